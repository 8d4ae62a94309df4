"""In the box, beside the learner's code: trains a small model with its optimizer and hands back what came out."""

from types import ModuleType
from typing import Any

import torch
import torch.distributed as dist

from autograder.learner.lab import models, probe, training


class Hoarder(torch.optim.Optimizer):
    """Plain gradient descent that keeps `buffers` tensors of each parameter's size, for the case under a memory limit:
    whoever keeps them all has no room."""

    def __init__(self, params: Any, lr: float, buffers: int) -> None:
        super().__init__(params, {"lr": lr, "buffers": buffers})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                kept = self.state[parameter]
                for number in range(group["buffers"]):
                    kept.setdefault(f"buffer{number}", torch.ones_like(parameter))
                parameter.sub_(parameter.grad, alpha=group["lr"])


def run(
    task: str, lab: ModuleType, rank: int, groups: dict[str, dist.ProcessGroup | None], inputs: dict[str, Any]
) -> dict[str, Any]:
    """Of every step: `loss`, and `param` of every parameter after it (with `sums`: its sums, see `training.summed`).
    Ranks outside the group do nothing.
    """
    group = groups.get("group", groups["world"])
    if group is None:
        return {}
    watcher = probe.current()
    model = models.build(inputs["model"], training.weights(inputs))
    watcher.watch(model)
    kind, options = _optimizer(inputs)
    with watcher:
        optimizer = lab.ShardedOptimizer(model.parameters(), kind, group, **options)
    watcher.watch(optimizer=optimizer)
    return training.Loop(
        forward=model,
        zero=optimizer.zero_grad,
        update=optimizer.step,
        after=lambda step: dict(
            training.summed(f"param:{name}", value) if inputs.get("sums") else (f"param:{name}", value)
            for name, value in model.named_parameters()
        ),
    ).run(training.batches(inputs), watcher)


def _optimizer(inputs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    if inputs["optimizer"]["name"] != "Hoarder":
        return training.optimizer_of(inputs)
    return Hoarder, {name: value for name, value in inputs["optimizer"].items() if name != "name"}
