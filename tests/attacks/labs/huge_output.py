# expect: ring_all_gather=limit:memory
# A number that says it is a TiB.
def ring_all_gather(shard, group):
    return torch.zeros(1, dtype=shard.dtype).expand(1 << 40)
