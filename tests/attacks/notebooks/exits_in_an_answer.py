# expect: 0.1/size=passed 0.1/area=crashed 0.2/pick=passed
# %% ans-0-1b
import os


def area(width, height):
    os._exit(0)
