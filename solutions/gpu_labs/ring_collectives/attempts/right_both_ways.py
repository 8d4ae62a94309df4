# expect: ring_all_gather=passed ring_reduce_scatter=passed ring_all_reduce=passed
"""Half of everything goes round to the right, the other half to the left, at the same time."""

import torch
import torch.distributed as dist


def chunk_bounds(length, size):
    step = -(-length // size)
    return [(min(rank * step, length), min((rank + 1) * step, length)) for rank in range(size)]


def both(gives, takes, group):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    ops = []
    for way, give, take in zip((1, -1), gives, takes):
        # with two ranks both ways lead to the same peer: the tag keeps them apart
        if give.numel():
            ops.append(
                dist.P2POp(dist.isend, give, dist.get_global_rank(group, (rank + way) % size), group, way + 1)
            )
        if take.numel():
            ops.append(
                dist.P2POp(dist.irecv, take, dist.get_global_rank(group, (rank - way) % size), group, way + 1)
            )
    for work in dist.batch_isend_irecv(ops) if ops else []:
        work.wait()


def halves(x):
    return x[: x.numel() // 2], x[x.numel() // 2 :]


def ring_all_gather(shard, group):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    shards = [torch.empty_like(shard) for _ in range(size)]
    shards[rank].copy_(shard)
    for step in range(size - 1):
        gives = [halves(shards[(rank - way * step) % size])[side] for side, way in enumerate((1, -1))]
        takes = [halves(shards[(rank - way * (step + 1)) % size])[side] for side, way in enumerate((1, -1))]
        both(gives, takes, group)
    return torch.cat(shards)


def ring_reduce_scatter(x, group):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    chunks = [x[start:stop].clone() for start, stop in chunk_bounds(x.numel(), size)]
    for step in range(size - 1):
        gives = [halves(chunks[(rank - way * (step + 1)) % size])[side] for side, way in enumerate((1, -1))]
        takes = [halves(chunks[(rank - way * (step + 2)) % size])[side] for side, way in enumerate((1, -1))]
        arrived = [torch.empty_like(take) for take in takes]
        both(gives, arrived, group)
        for take, came in zip(takes, arrived):
            take += came
    return chunks[rank]


def ring_all_reduce(x, group):
    size = dist.get_world_size(group)
    step = -(-x.numel() // size)
    padded = x.new_zeros(step * size)
    padded[: x.numel()] = x.reshape(-1)
    whole = ring_all_gather(ring_reduce_scatter(padded, group), group)
    return whole[: x.numel()].reshape(x.shape).clone()
