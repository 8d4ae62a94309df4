# expect: ring_all_gather=limit:memory
# control: right_memory
def hold(size):
    return torch.ones(size // 4)


def ring_all_gather(shard, group):
    held = hold(1 << 30) if dist.get_rank(group) == 0 else None
    return ring(shard, group)
