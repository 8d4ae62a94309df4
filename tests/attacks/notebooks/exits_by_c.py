# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=crashed
# %% ans-0-2
import ctypes

ctypes.CDLL(None).exit(0)
