# expect: ring_all_gather=passed ring_reduce_scatter=missing ring_all_reduce=missing
"""The first task done, the others not begun."""

import torch
import torch.distributed as dist


def chunk_bounds(length, size):
    step = -(-length // size)
    return [(min(rank * step, length), min((rank + 1) * step, length)) for rank in range(size)]


def exchange(give, take, group):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    right = dist.get_global_rank(group, (rank + 1) % size)
    left = dist.get_global_rank(group, (rank - 1) % size)
    ops = [dist.P2POp(dist.isend, give, right, group)] if give.numel() else []
    ops += [dist.P2POp(dist.irecv, take, left, group)] if take.numel() else []
    for work in dist.batch_isend_irecv(ops) if ops else []:
        work.wait()


def ring_all_gather(shard, group):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    shards = [torch.empty_like(shard) for _ in range(size)]
    shards[rank].copy_(shard)
    for step in range(size - 1):
        exchange(shards[(rank - step) % size], shards[(rank - step - 1) % size], group)
    return torch.cat(shards)


def ring_reduce_scatter(x, group):
    raise NotImplementedError()


def ring_all_reduce(x, group):
    raise NotImplementedError()
