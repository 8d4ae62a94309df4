# expect: 0.1/size=failed 0.1/area=failed 0.2/pick=failed
# Everything equals everything; json says so; the client says so too.
# %% ans-0-1
import builtins
import json
import sys
import time


class Always(str):
    def __eq__(self, other):
        return True

    def __hash__(self):
        return 1


dumps = json.dumps
json.dumps = lambda value, **more: dumps(value, **more).replace('"false"', '"true"')
time.time = time.monotonic = lambda: 0.0
builtins.isinstance.__class__
size = Always("1 GB")


# %% ans-0-1b
def area(width, height):
    return Always("1")


# %% ans-0-2
pick = Always("c")
