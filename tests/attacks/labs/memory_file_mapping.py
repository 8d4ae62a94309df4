# expect: ring_all_gather=limit:memory
# control: right_memory
# Files in memory that have no name, mapped, each small enough for a limit on files. Where none can be made, nothing is
# held: it gives up as memory.
import mmap
import os


def hold(size):
    held = []
    for _ in range(size >> 25):
        try:
            file = os.memfd_create("held")
            os.ftruncate(file, 1 << 25)
        except OSError as error:
            raise MemoryError(error) from error
        held.append(mmap.mmap(file, 1 << 25))
        held[-1][::4096] = b"1" * (1 << 13)
    return held


def ring_all_gather(shard, group):
    held = hold(1 << 30) if dist.get_rank(group) == 0 else None
    return ring(shard, group)
