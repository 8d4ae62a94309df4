# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=limit:process
# control: right_processes
# soak
# Every process makes two others, whether those before it live or not, thirteen generations at most; whoever is refused
# goes on asking.
# %% ans-0-2
import os
import time


def grow(generation):
    for _ in range(2):
        try:
            if os.fork() == 0 and generation < 13:
                grow(generation + 1)
        except OSError:
            time.sleep(0.01)
    time.sleep(100_000)


if os.fork() == 0:
    grow(0)
time.sleep(5)
for _ in range(5000):
    os.posix_spawn("/bin/sleep", ["sleep", "100000"], {})
pick = "b"
