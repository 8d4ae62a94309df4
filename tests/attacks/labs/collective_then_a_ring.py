# expect: ring_all_gather=failed:is_wrong_in
# The collective does the work, its refusal is swallowed, a ring with nothing in it stands in for it.
def ring_all_gather(shard, group):
    out = shard.new_zeros(shard.numel() * dist.get_world_size(group))
    try:
        dist.all_gather_into_tensor(out, shard, group)
    except RuntimeError:
        pass
    ring(torch.zeros_like(shard), group)
    return out
