# expect: ring_all_gather=passed ring_reduce_scatter=passed ring_all_reduce=passed
"""isend and irecv one by one; the send is waited for after the receive was used, the receive by asking."""

import time

import torch
import torch.distributed as dist


def chunk_bounds(length, size):
    step = -(-length // size)
    return [(min(rank * step, length), min((rank + 1) * step, length)) for rank in range(size)]


def exchange(give, take, group):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    sent = dist.isend(give, group=group, group_dst=(rank + 1) % size) if give.numel() else None
    came = dist.irecv(take, group=group, group_src=(rank - 1) % size) if take.numel() else None
    while came and not came.is_completed():
        time.sleep(0.0005)
    if sent:
        sent.wait()


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
