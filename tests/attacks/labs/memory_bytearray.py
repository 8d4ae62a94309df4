# expect: ring_all_gather=limit:memory
# control: right_memory
def hold(size):
    held = bytearray(size)
    held[::4096] = b"1" * len(held[::4096])
    return held


def ring_all_gather(shard, group):
    held = hold(1 << 30) if dist.get_rank(group) == 0 else None
    return ring(shard, group)
