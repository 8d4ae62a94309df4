# expect: ring_all_gather=limit:memory
# control: right_memory
import numpy


def hold(size):
    return numpy.ones(size // 8)


def ring_all_gather(shard, group):
    held = hold(1 << 30) if dist.get_rank(group) == 0 else None
    return ring(shard, group)
