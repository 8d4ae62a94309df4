# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=timeout
# seconds: 6
# control: right_processes
# Sixty-four processes that compute.
# %% ans-0-2
import os

for _ in range(64):
    if os.fork() == 0:
        while True:
            pass
while True:
    pass
