# expect: ring_all_gather=failed:collective-called ring_reduce_scatter=failed:collective-called ring_all_reduce=failed:collective-called
"""Calls what it is asked to build."""

import torch
import torch.distributed as dist


def ring_all_gather(shard, group):
    out = [torch.empty_like(shard) for _ in range(dist.get_world_size(group))]
    dist.all_gather(out, shard, group)
    return torch.cat(out)


def ring_reduce_scatter(x, group):
    return ring_all_reduce(x, group).chunk(dist.get_world_size(group))[dist.get_rank(group)].clone()


def ring_all_reduce(x, group):
    out = x.clone()
    dist.all_reduce(out, group=group)
    return out
