# expect: training=failed:divided-twice traffic=failed:divided-twice memory=failed tied=failed:divided-twice
"""Divides before the sum and after it."""

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


def free(tensor: Tensor) -> None:
    tensor.untyped_storage().resize_(0)


def refill(tensor: Tensor, part: Tensor, group: dist.ProcessGroup) -> None:
    tensor.untyped_storage().resize_(tensor.numel() * tensor.element_size())
    with torch.no_grad(), torch.autograd._unsafe_preserve_version_counter(tensor):
        all_gather(tensor, part, group)


class Unit:
    def __init__(self, module: nn.Module, group: dist.ProcessGroup, reshard_after_forward: bool) -> None:
        self.module, self.group, self.reshard_after_forward = module, group, reshard_after_forward
        places: dict[nn.Parameter, list[tuple[nn.Module, str]]] = {}
        for inner in module.modules():
            for name, parameter in list(inner._parameters.items()):
                if parameter is not None and not hasattr(parameter, "is_shard"):
                    places.setdefault(parameter, []).append((inner, name))
                    del inner._parameters[name]
        self.places = list(places.values())
        self.shapes = [parameter.shape for parameter in places]
        size, rank = dist.get_world_size(group), dist.get_rank(group)
        flat = (
            torch.cat([parameter.detach().reshape(-1) for parameter in places]) if places else torch.zeros(0)
        )
        share = -(-flat.numel() // size)
        padded = flat.new_zeros(share * size)
        padded[: flat.numel()] = flat
        # shard [⌈L/N⌉]; whole [⌈L/N⌉ · N], without memory until it is gathered
        self.shard = nn.Parameter(padded.chunk(size)[rank].clone())
        self.shard.is_shard = True
        self.whole = padded.requires_grad_()
        self.here = False
        free(self.whole)
        if places:
            module.register_parameter("shard", self.shard)
            self.whole.register_post_accumulate_grad_hook(self._reduce)

    def gather(self) -> None:
        if self.here:
            return
        refill(self.whole, self.shard.detach(), self.group)
        self.here = True
        start = 0
        for places, shape in zip(self.places, self.shapes, strict=True):
            view = self.whole[start : start + shape.numel()].view(shape)
            start += shape.numel()
            for module, name in places:
                setattr(module, name, view)

    def release(self) -> None:
        if self.here:
            free(self.whole)
            self.here = False

    def _reduce(self, whole: Tensor) -> None:
        grad, whole.grad = whole.grad, None
        # reduce-scatter: [L] and padding on every rank → the mean of my part, [⌈L/N⌉]
        part = torch.empty_like(self.shard)
        reduce_scatter(part, grad / dist.get_world_size(self.group), self.group)
        part /= dist.get_world_size(self.group)
        self.shard.grad = part if self.shard.grad is None else self.shard.grad + part
        self.release()


def fully_shard(
    module: nn.Module, group: dist.ProcessGroup, *, reshard_after_forward: bool = True
) -> nn.Module:
    unit = Unit(module, group, reshard_after_forward)
    module.unit = unit
    if not unit.places:
        return module

    def before(_: nn.Module, args: Any) -> None:
        unit.gather()

    def after(_: nn.Module, args: Any, output: Tensor) -> None:
        if unit.reshard_after_forward:
            unit.release()
        if output.requires_grad:
            # the gradient of the output comes just before backward of this unit
            output.register_hook(lambda grad: unit.gather())

    module.register_forward_pre_hook(before)
    module.register_forward_hook(after)
    return module


def full_parameters(model: nn.Module) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    names = {inner: prefix for prefix, inner in model.named_modules()}
    for inner in model.modules():
        unit = getattr(inner, "unit", None)
        if unit is None or not unit.places:
            continue
        unit.gather()
        for places in unit.places:
            module, name = places[0]
            prefix = names[module]
            found[f"{prefix}.{name}" if prefix else name] = getattr(module, name).detach().clone()
        unit.release()
    return found
