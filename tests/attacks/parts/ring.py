import torch
import torch.distributed as dist


def ring(shard, group):
    """An honest all-gather."""
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    right = dist.get_global_rank(group, (rank + 1) % size)
    left = dist.get_global_rank(group, (rank - 1) % size)
    shards = [torch.empty_like(shard) for _ in range(size)]
    shards[rank].copy_(shard)
    for step in range(size - 1):
        give, take = shards[(rank - step) % size], shards[(rank - step - 1) % size]
        ops = [dist.P2POp(dist.isend, give, right, group), dist.P2POp(dist.irecv, take, left, group)]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
    return torch.cat(shards)


def guess(shard, group):
    """What an attack hands in that has found nothing: the right shape, the wrong values."""
    return torch.zeros(shard.numel() * dist.get_world_size(group), dtype=shard.dtype)
