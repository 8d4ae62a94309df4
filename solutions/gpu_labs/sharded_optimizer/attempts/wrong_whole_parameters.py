# expect: same_weights=passed state_sharded=failed:whole-parameters-dealt traffic=failed:whole-parameters-dealt
"""torch’s ZeroRedundancyOptimizer: parameters dealt out whole, and broadcast."""

import torch
import torch.distributed as dist
from torch.distributed.optim import ZeroRedundancyOptimizer


class ShardedOptimizer:
    def __init__(self, params, optimizer_cls, group, **options):
        self.params, self.group = list(params), group
        self.optimizer = ZeroRedundancyOptimizer(
            self.params, optimizer_class=optimizer_cls, process_group=group, **options
        )

    @property
    def state(self):
        return self.optimizer.optim.state

    def zero_grad(self):
        self.optimizer.zero_grad()

    def step(self):
        for parameter in self.params:
            parameter.grad /= dist.get_world_size(self.group)
            dist.all_reduce(parameter.grad, group=self.group)
        self.optimizer.step()
