# expect: ring_all_gather=failed
# A tensor without values.
def ring_all_gather(shard, group):
    return torch.empty(shard.numel() * dist.get_world_size(group), dtype=shard.dtype, device="meta")
