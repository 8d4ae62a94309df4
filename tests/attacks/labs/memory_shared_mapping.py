# expect: ring_all_gather=limit:memory
# control: right_memory
# Shared anonymous memory, which a limit on private data does not count.
import mmap


def hold(size):
    held = mmap.mmap(-1, size)
    held[::4096] = b"1" * len(held[::4096])
    return held


def ring_all_gather(shard, group):
    held = hold(1 << 30) if dist.get_rank(group) == 0 else None
    return ring(shard, group)
