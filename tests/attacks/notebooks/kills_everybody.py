# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=passed
# Every process it can name, the box's first among them. It may hurt nobody outside; whoever runs its cells is not to be
# hurt either.
# %% before ans-0-1
import os
import signal
import threading

mine = {os.getpid(), *(thread.native_id for thread in threading.enumerate())}
if os.path.exists("/proc/self/task"):
    mine |= {int(task) for task in os.listdir("/proc/self/task")}

for pid in (-1, 1, os.getppid(), *(p for p in range(2, 400) if p not in mine)):
    for number in (signal.SIGSTOP, signal.SIGKILL):
        try:
            os.kill(pid, number)
        except OSError:
            pass
