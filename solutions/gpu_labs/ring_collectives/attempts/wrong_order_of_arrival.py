# expect: ring_all_gather=failed:chunks-out-of-order ring_reduce_scatter=failed:shard-of-the-wrong-rank ring_all_reduce=failed:chunks-out-of-order
"""Shards joined in the order they came; and the sum of the neighbour's chunk kept."""

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
    shards = [shard.clone()]
    for _ in range(dist.get_world_size(group) - 1):
        shards.append(torch.empty_like(shard))
        exchange(shards[-2], shards[-1], group)
    return torch.cat(shards)


def ring_reduce_scatter(x, group):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    chunks = [x[start:stop].clone() for start, stop in chunk_bounds(x.numel(), size)]
    for step in range(size - 1):
        # starts at the owner itself, so it ends one rank before it
        give, take = chunks[(rank - step) % size], chunks[(rank - step - 1) % size]
        arrived = torch.empty_like(take)
        exchange(give, arrived, group)
        take += arrived
    return chunks[(rank + 1) % size]


def ring_all_reduce(x, group):
    size = dist.get_world_size(group)
    step = -(-x.numel() // size)
    padded = x.new_zeros(step * size)
    padded[: x.numel()] = x.reshape(-1)
    whole = ring_all_gather(ring_reduce_scatter(padded, group), group)
    return whole[: x.numel()].reshape(x.shape).clone()
