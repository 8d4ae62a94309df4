# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=limit:memory
# control: right_processes
# groups
# No process takes much, all together do: a limit a process counts nothing. It waits until all hold what they hold.
# %% ans-0-2
import os
import time

children = []
for _ in range(5):
    take, give = os.pipe()
    if os.fork() == 0:
        held = bytearray(b"1" * (160 << 20))
        os.write(give, b"1")
        time.sleep(100_000)
    os.close(give)
    if not os.read(take, 1):
        raise MemoryError("a child was ended")
pick = "b"
