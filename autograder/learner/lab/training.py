"""The training loop of all sharding labs: whole steps, each phase under the probe, with what a lab does differently as
callables. Nothing here decides anything.

    for each step:  zero gradients
                    for each micro-batch:  forward, backward     (phases "forward", "backward")
                    reduce what is left to reduce                (phase "reduce")
                    optimizer step                               (phase "update")
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from autograder.learner.lab.models import loss_of
from autograder.learner.lab.probe import Probe

Batch = tuple[Tensor, Tensor]
"""x [batch, d_in], target [batch, d_out]."""


def batches(inputs: Mapping[str, Any]) -> list[list[Batch]]:
    """A rank's data, by step and micro-batch, from inputs named `x:0:1` and `y:0:1` (step 0, micro-batch 1)."""
    found: list[list[Batch]] = []
    for step in range(int(inputs["steps"])):
        micros = int(inputs["micro_batches"])
        found.append([(inputs[f"x:{step}:{m}"], inputs[f"y:{step}:{m}"]) for m in range(micros)])
    return found


def weights(inputs: Mapping[str, Any]) -> dict[str, Tensor]:
    """A rank's starting weights, from inputs named `w:<parameter>`."""
    return {name[2:]: value for name, value in inputs.items() if name.startswith("w:")}


class Hoarder(torch.optim.Optimizer):
    """Plain gradient descent that keeps `buffers` tensors of each parameter's size, for cases under a memory limit:
    whoever keeps the state of all parameters has no room."""

    def __init__(self, params: Any, lr: float, buffers: int) -> None:
        super().__init__(params, {"lr": lr, "buffers": buffers})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                kept = self.state[parameter]
                for number in range(group["buffers"]):
                    kept.setdefault(f"buffer{number}", torch.ones_like(parameter))
                parameter.sub_(parameter.grad, alpha=group["lr"])


def optimizer_of(inputs: Mapping[str, Any]) -> tuple[type[torch.optim.Optimizer], dict[str, Any]]:
    """The optimizer a case asks for, from its input `optimizer`: {"name": "SGD", "lr": 0.1, "momentum": 0.9}; the name
    is one of `torch.optim`, or Hoarder."""
    asked = dict(inputs["optimizer"])
    name = asked.pop("name")
    return Hoarder if name == "Hoarder" else getattr(torch.optim, name), asked


@dataclass
class Loop:
    """What a lab does differently. `forward(x)` gives the output; `skip_sync` is entered around all micro-batches of a
    step but the last; `reduce` runs after the last backward; `update` is the optimizer's step; `zero` clears gradients.
    `after(step)` gives what is to be handed in of that step, by name; it runs outside every phase.
    """

    forward: Callable[[Tensor], Tensor]
    zero: Callable[[], Any]
    update: Callable[[], Any]
    reduce: Callable[[], Any] | None = None
    skip_sync: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
    before_update: Callable[[int], Mapping[str, Tensor]] | None = None
    after: Callable[[int], Mapping[str, Tensor]] | None = None
    handed_in: dict[str, Any] = field(default_factory=dict)

    def run(self, data: Sequence[Sequence[Batch]], probe: Probe) -> dict[str, Any]:
        """Trains on `data` and returns what is handed in: `loss:<step>:<micro-batch>`, and what the callables gave,
        each name with `:<step>` behind it.
        """
        with probe:
            for step, micros in enumerate(data):
                probe.step(step)
                self.zero()
                for number, batch in enumerate(micros):
                    last = number == len(micros) - 1
                    with contextlib.nullcontext() if last else self.skip_sync():
                        self._one(step, number, batch, len(micros), probe)
                if self.reduce is not None:
                    with probe.phase("reduce"):
                        self.reduce()
                self._note(step, self.before_update, probe)
                with probe.phase("update"):
                    self.update()
                self._note(step, self.after, probe)
        return self.handed_in

    def _one(self, step: int, number: int, batch: Batch, count: int, probe: Probe) -> None:
        x, target = batch
        with probe.phase("forward", number):
            loss = loss_of(self.forward(x), target)
        with probe.phase("backward", number):
            (loss / count).backward()
        self.handed_in[f"loss:{step}:{number}"] = loss.detach()

    def _note(self, step: int, give: Callable[[int], Mapping[str, Tensor]] | None, probe: Probe) -> None:
        if give is not None:
            with probe.closed():
                given = give(step)
                self.handed_in |= {f"{name}:{step}": value.detach().clone() for name, value in given.items()}


def summed(name: str, value: Tensor) -> tuple[str, Tensor]:
    """A tensor as the sums along its first dimension, in float64: what is handed in where memory is short."""
    return f"{name}:sum", value.detach().double().sum(0)


def named_gradients(model: torch.nn.Module) -> Iterator[tuple[str, Tensor]]:
    """(`grad:<parameter>`, gradient) of every parameter that has one."""
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            yield f"grad:{name}", parameter.grad
