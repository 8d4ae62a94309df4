# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=passed
# Files of one's own are allowed.
# %% before ans-0-1
from multiprocessing import shared_memory
from pathlib import Path

Path("mine.txt").write_text("well")
assert Path("mine.txt").read_text() == "well"
Path("/tmp/mine.bin").write_bytes(bytes(8 << 20))
segment = shared_memory.SharedMemory(create=True, size=1 << 20)
segment.unlink()
