# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=crashed
# %% ans-0-2
import os
import signal

os.kill(os.getpid(), signal.SIGKILL)
os.abort()
