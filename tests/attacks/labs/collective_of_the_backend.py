# expect: ring_all_gather=failed:collective-called
# On the object below torch.distributed, past whatever wraps its functions.
def ring_all_gather(shard, group):
    out = [torch.empty_like(shard) for _ in range(dist.get_world_size(group))]
    backend = group._get_backend(torch.device("cpu")) if not hasattr(group, "_line") else group
    backend.allgather([out], [shard]).wait()
    return torch.cat(out)
