# expect: ring_all_gather=failed:the_figure_stands_still
# How many threads the whole machine has, in /proc/loadavg.
import threading

STEP = 60
ends = []
threading.stack_size(1 << 16)


def show(symbol):
    while ends:
        done, threads = ends.pop()
        done.set()
        for thread in threads:
            thread.join()
    done = threading.Event()
    threads = [threading.Thread(target=done.wait, daemon=True) for _ in range(STEP * symbol)]
    for thread in threads:
        thread.start()
    ends.append((done, threads))
    time.sleep(0.05)


def look():
    return int(open("/proc/loadavg").read().split()[3].split("/")[1])
