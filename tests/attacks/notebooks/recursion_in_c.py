# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=crashed
# %% ans-0-2
import sys


class Deep:
    def __repr__(self):
        return repr([self])


sys.setrecursionlimit(1 << 30)
repr(Deep())
