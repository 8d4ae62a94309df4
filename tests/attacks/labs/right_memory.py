# expect: ring_all_gather=passed
# Some memory, of each kind, is allowed.
import mmap

import numpy


def ring_all_gather(shard, group):
    held = [numpy.ones(4 << 20), bytearray(16 << 20), torch.ones(4 << 20)]
    assert sum(len(one) for one in held) == (24 << 20)
    return ring(shard, group)
