# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=limit:memory
# %% ans-0-2
held = []
for _ in range(1500):
    held.append(bytearray(b"1" * (1 << 20)))
pick = "b"
