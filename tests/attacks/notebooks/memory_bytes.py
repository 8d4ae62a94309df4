# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=limit:memory
# %% ans-0-2
held = bytearray(3 << 30)
pick = "b"
