"""ZeRO-1: every rank updates one N-th of the weights, and keeps the optimizer's state for that part alone.

The story, the maths and what is graded stand in this lab's README.md. N is the number of ranks in `group`, P the bytes
of all parameters.
"""

from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn


def all_gather(whole: Tensor, part: Tensor, group: dist.ProcessGroup) -> None:
    """Every rank's `part` [s], one after another, into `whole` [N·s] (given; nothing to write)."""
    gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
    gather(whole, part, group=group)


def reduce_scatter(part: Tensor, whole: Tensor, group: dist.ProcessGroup) -> None:
    """This rank's part [s] of the sum of all ranks' `whole` [N·s], into `part` (given; nothing to write)."""
    scatter = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor
    scatter(part, whole, group=group)


def flatten(tensors: Iterable[Tensor], size: int) -> Tensor:
    """All elements of `tensors` in one 1-D tensor, with zeros behind until its length divides by `size`.

    Args:
        tensors: any shapes, one dtype.
        size: the number of ranks.

    Returns:
        A new tensor of ⌈L/size⌉ · size elements, L the elements of all tensors together.
    """
    ### BEGIN SOLUTION
    flat = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
    share = -(-flat.numel() // size)
    padded = flat.new_zeros(share * size)
    padded[: flat.numel()] = flat
    return padded
    ### END SOLUTION


class ShardedOptimizer:
    """An optimizer whose state is divided among the ranks of `group`.

    `step()` expects in every parameter's `.grad` the gradient of this rank's own data, not yet reduced, and leaves in
    every parameter, on every rank, what one process would have made of the mean.
    """

    def __init__(
        self,
        params: Iterable[nn.Parameter],
        optimizer_cls: type[torch.optim.Optimizer],
        group: dist.ProcessGroup,
        **options: Any,
    ) -> None:
        """
        Args:
            params: the same on every rank, equal values, one dtype, any sizes: one may hold nearly all elements.
            optimizer_cls: an elementwise optimizer, such as `torch.optim.Adam`. What it keeps for a parameter, k
                tensors of its size, is kept here for 1/N of the elements: k · P/N bytes a rank and padding.
            group: the ranks that share the work; they need not be ranks 0 … N−1 of the world.
            options: what `optimizer_cls` takes besides parameters.

        Source: Rajbhandari et al., "ZeRO" (arXiv 1910.02054), section 5.1: the optimizer states are partitioned.
        """
        ### BEGIN SOLUTION
        self.params = list(params)
        self.group = group
        self._size, rank = dist.get_world_size(group), dist.get_rank(group)
        # shard [⌈L/N⌉]: this rank's elements of the flat weights, whatever parameter they belong to
        self.shard = nn.Parameter(flatten(self.params, self._size).chunk(self._size)[rank].clone())
        self.optimizer = optimizer_cls([self.shard], **options)
        ### END SOLUTION

    @property
    def state(self) -> dict[Any, Any]:
        """What the wrapped optimizer keeps on this rank (given; nothing to write)."""
        return self.optimizer.state

    def zero_grad(self) -> None:
        """Forgets the gradients of all parameters."""
        ### BEGIN SOLUTION
        for parameter in self.params:
            parameter.grad = None
        ### END SOLUTION

    @torch.no_grad()
    def step(self) -> None:
        """One step of the optimizer on the mean of the ranks' gradients.

        Traffic a rank: a reduce-scatter of the gradients and an all-gather of the parameters, 2 (N−1)/N · P bytes, on
        sizes rounded up to N. Afterwards no full-size tensor is left but parameters and gradients.
        """
        ### BEGIN SOLUTION
        # reduce-scatter: gradients of all ranks, [L] each → the mean of my part, [⌈L/N⌉]
        grads = flatten((parameter.grad for parameter in self.params), self._size)
        grads /= self._size
        self.shard.grad = torch.empty_like(self.shard)
        reduce_scatter(self.shard.grad, grads, self.group)
        self.optimizer.step()
        self.shard.grad = None
        # all-gather: everybody's updated part, [⌈L/N⌉] each → the weights, [L] and padding, in the place of `grads`
        all_gather(grads, self.shard.detach(), self.group)
        start = 0
        for parameter in self.params:
            parameter.copy_(grads[start : start + parameter.numel()].view_as(parameter))
            start += parameter.numel()
        ### END SOLUTION
