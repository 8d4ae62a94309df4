# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=passed
# What it prints is cut, and costs nobody.
# %% before ans-0-1
import os

for _ in range(40):
    print("x" * (1 << 20))
for _ in range(512):
    os.write(1, b"x" * (1 << 16))
    os.write(2, b"x" * (1 << 16))
