# expect: ring_all_gather=failed:not_finite
def ring_all_gather(shard, group):
    return ring(shard, group) * torch.nan
