# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=failed
# %% ans-0-2
import atexit
import os

atexit.register(os._exit, 0)
pick = "a"
