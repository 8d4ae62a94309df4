"""Fully sharded data parallelism (ZeRO-3): between uses, every rank holds one N-th of every unit, and nothing whole.

The story, the maths and what is graded stand in this lab's README.md. N is the number of ranks in `group`, a unit is
what one call of `fully_shard` takes together, L the number of units, P the bytes of all parameters.
"""

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


def free(tensor: Tensor) -> None:
    """Gives back the memory of `tensor`, which stays an object that autograd may hold (given; nothing to write)."""
    tensor.untyped_storage().resize_(0)


def refill(tensor: Tensor, part: Tensor, group: dist.ProcessGroup) -> None:
    """Takes memory for `tensor` [N·s] again and gathers into it (given; nothing to write).

    Autograd remembers at which version it saved a tensor. Bringing back the very values that were there is no change,
    so the version stays.
    """
    tensor.untyped_storage().resize_(tensor.numel() * tensor.element_size())
    with torch.no_grad(), torch.autograd._unsafe_preserve_version_counter(tensor):
        all_gather(tensor, part, group)


class Unit:
    """The parameters of one unit: a shard that stays, and the whole that comes and goes."""

    def __init__(self, module: nn.Module, group: dist.ProcessGroup, reshard_after_forward: bool) -> None:
        """Takes the parameters of `module` that no inner unit has, and leaves its shard in their place.

        A parameter that stands in several places (tied weights) is taken once and put back in all of them.
        """
        self.module, self.group, self.reshard_after_forward = module, group, reshard_after_forward
        raise NotImplementedError()

    def gather(self) -> None:
        """Makes every parameter whole and puts it in its places, as a view of one flat tensor. Does nothing when it is.

        all-gather: [⌈L/N⌉] of each rank → [L] and padding on every rank.
        """
        raise NotImplementedError()

    def release(self) -> None:
        """Frees the whole: only the shard stays."""
        raise NotImplementedError()

    raise NotImplementedError()


def fully_shard(
    module: nn.Module, group: dist.ProcessGroup, *, reshard_after_forward: bool = True
) -> nn.Module:
    """Makes `module` one unit: its parameters are sharded over `group`, gathered for use, and freed after it.

    Call it on inner modules first and on the whole model last: a call takes the parameters that no inner call has. The
    optimizer is made afterwards, from `model.parameters()`, which then are the shards.

    Args:
        module: the same on every rank, equal values, one dtype. It is changed in place.
        group: the ranks that share it; they need not be ranks 0 … N−1 of the world.
        reshard_after_forward: free the whole after forward and gather it again for backward. False keeps it until
            backward is through with the unit: a gather less, and its memory.

    Returns:
        `module`. After backward `.grad` of each shard is this rank's part of the mean over ranks, added to what was
        there.

    Traffic a rank and unit of S bytes: two gathers and a reduce-scatter, 3 (N−1)/N · S, or two thirds of it.
    Source: Zhao et al., "PyTorch FSDP" (arXiv 2304.11277); Rajbhandari et al., "ZeRO" (arXiv 1910.02054).
    """
    unit = Unit(module, group, reshard_after_forward)
    module.unit = unit
    raise NotImplementedError()
    return module


def full_parameters(model: nn.Module) -> dict[str, Tensor]:
    """Every parameter, whole, on every rank, by the name it had before sharding (a tied one by its first name).

    For saving and comparing; it gathers unit by unit and leaves everything sharded.
    """
    raise NotImplementedError()
