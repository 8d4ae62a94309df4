# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=limit:process
# control: right_processes
# soak
# Every process makes others as long as it may, and outlives who made it; twelve generations at most.
# %% ans-0-2
import os
import time


def grow(generation):
    while generation < 12:
        if os.fork() == 0:
            generation += 1
            continue
        if generation:
            try:
                os.fork()
            except OSError:
                pass
            time.sleep(100_000)
        generation += 1


grow(0)
for _ in range(5000):
    os.posix_spawn("/bin/sleep", ["sleep", "100000"], {})
pick = "b"
