# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=limit:memory
# groups
# Shared anonymous memory, which a limit on private data does not count.
# %% ans-0-2
import mmap

held = mmap.mmap(-1, 1 << 30)
held[::4096] = b"1" * (1 << 18)
pick = "b"
