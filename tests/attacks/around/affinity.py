# expect: ring_all_gather=failed:is_wrong_in
# Which processor a thread may use, asked by its number: no /proc needed.
import threading


def tell(rank, number):
    tell.mine = {}

    def stay(bit):
        os.sched_setaffinity(0, {0} if number >> bit & 1 else {0, 1})
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 5 + rank)
        tell.mine[bit] = threading.get_native_id()
        time.sleep(60)

    for bit in range(28):
        threading.Thread(target=stay, args=(bit,), daemon=True).start()
        while bit not in tell.mine:
            time.sleep(0.001)


def hear(other):
    found = []
    for task in range(1, 32768):
        try:
            if task not in tell.mine.values() and os.getpriority(os.PRIO_PROCESS, task) == 5 + other:
                found.append(os.sched_getaffinity(task) == {0})
        except OSError:
            pass
    return sum(one << bit for bit, one in enumerate(found)) if len(found) == 28 else None
