"""The small models that labs train, built from a description a case can hold.

A description is JSON: {"widths": [8, 12, 8], "bias": true, "dtype": "float64", "tied": false, "unused": false}. It is a
stack of linear layers with tanh between them, `widths[i] → widths[i + 1]`:

- `tied`: the last layer's weight is the first one's, transposed in use; both are one parameter ("layers.0.weight")
- `unused`: one more parameter that no forward touches, so that its gradient stays None
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Stack(nn.Module):
    """x of shape [batch, widths[0]] → [batch, widths[-1]], or [batch, widths[0]] when `tied`."""

    def __init__(
        self,
        widths: Sequence[int],
        bias: bool = True,
        dtype: str = "float64",
        tied: bool = False,
        unused: bool = False,
    ) -> None:
        super().__init__()
        kind = getattr(torch, dtype)
        self.layers = nn.ModuleList(
            nn.Linear(a, b, bias=bias, dtype=kind) for a, b in itertools.pairwise(widths)
        )
        self.head = Tied(self.layers[0]) if tied else None
        if unused:
            self.unused = nn.Parameter(torch.zeros(3, dtype=kind))

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x if self.head is None else self.head(x)


class Tied(nn.Module):
    """y = x · W with W [h, d] the weight of a layer that maps d → h: that layer, backwards. It owns the same parameter
    under a second name."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        assert isinstance(layer.weight, nn.Parameter)
        self.weight = layer.weight

    def forward(self, x: Tensor) -> Tensor:
        weight: Tensor = self.weight
        return F.linear(x, weight.t())


def build(description: Mapping[str, Any], weights: Mapping[str, Tensor]) -> Stack:
    """The model of a description with these weights, by parameter name (a tied one once, by its first name)."""
    model = Stack(**description)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])
    return model


def loss_of(output: Tensor, target: Tensor) -> Tensor:
    """What every lab minimises: the mean squared error over one rank's micro-batch, a scalar."""
    return (output - target).pow(2).mean()
