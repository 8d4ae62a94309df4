# expect: same_weights=passed state_sharded=failed:state-not-sharded traffic=failed:all-reduce-then-slice
"""Data parallelism: gradients are averaged, and every rank keeps all of the state."""

import torch
import torch.distributed as dist
from torch import nn


class ShardedOptimizer:
    def __init__(self, params, optimizer_cls, group, **options):
        self.params, self.group = list(params), group
        self.optimizer = optimizer_cls(self.params, **options)

    @property
    def state(self):
        return self.optimizer.state

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        for parameter in self.params:
            parameter.grad /= dist.get_world_size(self.group)
            dist.all_reduce(parameter.grad, group=self.group)
        self.optimizer.step()
