# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=timeout
# seconds: 4
# %% ans-0-2
import os
import signal
import time

os.kill(os.getpid(), signal.SIGSTOP)
time.sleep(100_000)
