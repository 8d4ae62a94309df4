# expect: ring_all_gather=failed:relay-through-root ring_reduce_scatter=failed:relay-through-root ring_all_reduce=failed:relay-through-root
"""Rank 0 of the group collects everything and hands out the results."""

import torch
import torch.distributed as dist


def chunk_bounds(length, size):
    step = -(-length // size)
    return [(min(rank * step, length), min((rank + 1) * step, length)) for rank in range(size)]


def through_root(x, group, work_out):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    if rank:
        root = dist.get_global_rank(group, 0)
        dist.send(x, root, group)
        like = work_out([x] * size)[rank]
        out = torch.empty_like(like)
        if out.numel():
            dist.recv(out, root, group)
        return out
    xs = [x.clone()]
    for other in range(1, size):
        xs.append(torch.empty_like(x))
        dist.recv(xs[-1], dist.get_global_rank(group, other), group)
    outs = work_out(xs)
    for other in range(1, size):
        if outs[other].numel():
            dist.send(outs[other].contiguous(), dist.get_global_rank(group, other), group)
    return outs[0].clone()


def ring_all_gather(shard, group):
    return through_root(shard, group, lambda xs: [torch.cat(xs)] * len(xs))


def ring_reduce_scatter(x, group):
    return through_root(x, group, lambda xs: [sum(xs)[a:b] for a, b in chunk_bounds(x.numel(), len(xs))])


def ring_all_reduce(x, group):
    return through_root(x, group, lambda xs: [sum(xs)] * len(xs))
