# expect: ring_all_gather=failed:global-rank-for-group-rank ring_reduce_scatter=failed:global-rank-for-group-rank ring_all_reduce=failed:global-rank-for-group-rank
"""The place in the ring is taken from the world: right until the group is not 0 … N−1."""

import torch
import torch.distributed as dist


def chunk_bounds(length, size):
    step = -(-length // size)
    return [(min(rank * step, length), min((rank + 1) * step, length)) for rank in range(size)]


def exchange(give, take, group):
    rank, size = dist.get_rank(), dist.get_world_size(group)
    ops = [dist.P2POp(dist.isend, give, (rank + 1) % size, group)] if give.numel() else []
    ops += [dist.P2POp(dist.irecv, take, (rank - 1) % size, group)] if take.numel() else []
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
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    chunks = [x[start:stop].clone() for start, stop in chunk_bounds(x.numel(), size)]
    for step in range(size - 1):
        give, take = chunks[(rank - step - 1) % size], chunks[(rank - step - 2) % size]
        arrived = torch.empty_like(take)
        exchange(give, arrived, group)
        take += arrived
    return chunks[rank]


def ring_all_reduce(x, group):
    size = dist.get_world_size(group)
    step = -(-x.numel() // size)
    padded = x.new_zeros(step * size)
    padded[: x.numel()] = x.reshape(-1)
    whole = ring_all_gather(ring_reduce_scatter(padded, group), group)
    return whole[: x.numel()].reshape(x.shape).clone()
