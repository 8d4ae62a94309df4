"""Which mistake a wrong tensor shows: a constant factor, another rank's value, one left as it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from autograder.judge.lab import Inputs


def factor(got: Mapping[str, Tensor], right: Mapping[str, Tensor], rel: float = 1e-6) -> float | None:
    """The c with got = c · right in every element of every tensor that both have; None where there is no such c, or
    nothing to tell it by. Least squares over all elements, then checked element by element.
    """
    pairs = [
        (got[name].double(), right[name].double()) for name in right if _fits(got.get(name), right[name])
    ]
    below = sum(float((b * b).sum()) for _, b in pairs)
    if not pairs or not below:
        return None
    found = sum(float((a * b).sum()) for a, b in pairs) / below
    largest = max(float(b.abs().max()) for _, b in pairs if b.numel())
    held = all(torch.allclose(a, found * b, rtol=rel, atol=rel * largest) for a, b in pairs)
    return found if held else None


def same(got: Mapping[str, Tensor], other: Mapping[str, Tensor], rel: float = 1e-6) -> bool:
    """Whether every tensor that both have is the same, up to rounding, and there is one."""
    found = factor(got, other, rel)
    return found is not None and abs(found - 1) <= rel


def tensors(outputs: Inputs, prefix: str, step: int | None = None) -> dict[str, Tensor]:
    """The tensors handed in under names that begin with `prefix`, without it; of one step (`…:<step>`) without that
    too."""
    found = {}
    for name, value in outputs.items():
        if not name.startswith(prefix) or not isinstance(value, Tensor):
            continue
        rest = name.removeprefix(prefix)
        if step is None:
            found[rest] = value
        elif rest.endswith(f":{step}"):
            found[rest.removesuffix(f":{step}")] = value
    return found


def differ(outputs: Sequence[Inputs], prefix: str, step: int) -> bool:
    """Whether the ranks' tensors of one name are not the same everywhere."""
    first = tensors(outputs[0], prefix, step)
    return any(not same(tensors(other, prefix, step), first) for other in outputs[1:])


def _fits(got: Tensor | None, right: Tensor) -> bool:
    return got is not None and got.shape == right.shape and bool(torch.isfinite(got).all())
