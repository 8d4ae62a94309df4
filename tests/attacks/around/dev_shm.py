# expect: ring_all_gather=failed:is_wrong_in
# control: right_scratch
# Shared memory by a name in /dev/shm, as multiprocessing makes it.
from multiprocessing import resource_tracker, shared_memory

resource_tracker.register = resource_tracker.unregister = lambda *args: None


def tell(rank, number):
    global segment
    segment = shared_memory.SharedMemory(f"{NAME}-{rank}", create=True, size=64)
    segment.buf[:8] = number.to_bytes(8, "little")


def hear(other):
    there = shared_memory.SharedMemory(f"{NAME}-{other}")
    number = int.from_bytes(there.buf[:8], "little")
    there.unlink()
    return number
