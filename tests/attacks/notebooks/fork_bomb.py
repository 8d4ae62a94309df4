# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=limit:process
# control: right_processes
# Processes until no more are given, but for a bound that spares a machine on which nothing stops it.
# %% ans-0-2
import os

for _ in range(3000):
    os.posix_spawn("/bin/sleep", ["sleep", "100000"], {})
pick = "b"
