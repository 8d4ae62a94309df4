# expect: ring_all_gather=limit:memory
# control: right_memory
def hold(size):
    return [bytes(1 << 14) + bytes([number % 256]) for number in range(size >> 14)]


def ring_all_gather(shard, group):
    held = hold(1 << 30) if dist.get_rank(group) == 0 else None
    return ring(shard, group)
