"""In the box, beside the learner's code: trains a small model with its optimizer and hands back what came out."""

from types import ModuleType
from typing import Any

import torch.distributed as dist

from autograder.learner.lab import models, probe, training


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
    kind, options = training.optimizer_of(inputs)
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
