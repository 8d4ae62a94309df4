# expect: same_weights=passed state_sharded=passed traffic=passed
"""Shards each parameter by itself, as FSDP2 does, and keeps the same bounds."""

import torch
import torch.distributed as dist
from torch import nn


def gather(whole, part, group):
    (getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor)(whole, part, group=group)


def scatter(part, whole, group):
    (getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor)(part, whole, group=group)


class ShardedOptimizer:
    def __init__(self, params, optimizer_cls, group, **options):
        self.params, self.group = list(params), group
        self.size, self.rank = dist.get_world_size(group), dist.get_rank(group)
        self.shards = [
            nn.Parameter(self.padded(p.detach()).chunk(self.size)[self.rank].clone()) for p in self.params
        ]
        self.optimizer = optimizer_cls(self.shards, **options)

    def padded(self, tensor):
        share = -(-tensor.numel() // self.size)
        whole = tensor.new_zeros(share * self.size)
        whole[: tensor.numel()] = tensor.reshape(-1)
        return whole

    @property
    def state(self):
        return self.optimizer.state

    def zero_grad(self):
        for parameter in self.params:
            parameter.grad = None

    @torch.no_grad()
    def step(self):
        for parameter, shard in zip(self.params, self.shards):
            whole = self.padded(parameter.grad)
            shard.grad = torch.empty_like(shard)
            scatter(shard.grad, whole, self.group)
            shard.grad /= self.size
        self.optimizer.step()
        for parameter, shard in zip(self.params, self.shards):
            whole = shard.new_empty(shard.numel() * self.size)
            gather(whole, shard.detach(), self.group)
            parameter.copy_(whole[: parameter.numel()].view_as(parameter))
            shard.grad = None
