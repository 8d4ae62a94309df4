# expect: ring_all_gather=failed:the_figure_stands_still
# How many threads one's user may still start, where all ranks are one user: a lower limit of one's own finds the number.
import resource
import threading

threading.stack_size(1 << 16)
STEP = -6
ends = []


def show(symbol):
    while ends:
        done, threads = ends.pop()
        done.set()
        for thread in threads:
            thread.join()
    done = threading.Event()
    threads = [threading.Thread(target=done.wait, daemon=True) for _ in range(-STEP * symbol)]
    for thread in threads:
        thread.start()
    ends.append((done, threads))
    time.sleep(0.02)


def may_start(most):
    resource.setrlimit(resource.RLIMIT_NPROC, (most, resource.getrlimit(resource.RLIMIT_NPROC)[1]))
    try:
        thread = threading.Thread(target=int, daemon=True)
        thread.start()
        thread.join()
        return True
    except RuntimeError:
        return False


def look():
    low, high = 0, 4096
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if may_start(middle) else (middle, high)
    may_start(4096)
    return -high
