# expect: same_weights=failed:nobody-told state_sharded=failed:nobody-told traffic=failed:nobody-told
"""Updates its own part, and hands nothing round."""

from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


def all_gather(whole: Tensor, part: Tensor, group: dist.ProcessGroup) -> None:
    gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
    gather(whole, part, group=group)


def reduce_scatter(part: Tensor, whole: Tensor, group: dist.ProcessGroup) -> None:
    scatter = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor
    scatter(part, whole, group=group)


def flatten(tensors: Iterable[Tensor], size: int) -> Tensor:
    flat = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
    share = -(-flat.numel() // size)
    padded = flat.new_zeros(share * size)
    padded[: flat.numel()] = flat
    return padded


class ShardedOptimizer:
    def __init__(
        self,
        params: Iterable[nn.Parameter],
        optimizer_cls: type[torch.optim.Optimizer],
        group: dist.ProcessGroup,
        **options: Any,
    ) -> None:
        self.params = list(params)
        self.group = group
        self._size, rank = dist.get_world_size(group), dist.get_rank(group)
        # shard [⌈L/N⌉]: this rank's elements of the flat weights, whatever parameter they belong to
        self.shard = nn.Parameter(flatten(self.params, self._size).chunk(self._size)[rank].clone())
        self.optimizer = optimizer_cls([self.shard], **options)

    @property
    def state(self) -> dict[Any, Any]:
        return self.optimizer.state

    def zero_grad(self) -> None:
        for parameter in self.params:
            parameter.grad = None

    @torch.no_grad()
    def step(self) -> None:
        # reduce-scatter: gradients of all ranks, [L] each → the mean of my part, [⌈L/N⌉]
        grads = flatten((parameter.grad for parameter in self.params), self._size)
        grads /= self._size
        self.shard.grad = torch.empty_like(self.shard)
        reduce_scatter(self.shard.grad, grads, self.group)
        self.optimizer.step()
        self.shard.grad = None
        # all-gather: everybody's updated part, [⌈L/N⌉] each → the weights, [L] and padding, in the place of `grads`
        grads = flatten(self.params, self._size)
        grads.chunk(self._size)[dist.get_rank(self.group)].copy_(self.shard)
        start = 0
        for parameter in self.params:
            parameter.copy_(grads[start : start + parameter.numel()].view_as(parameter))
            start += parameter.numel()
