"""In the box, beside the learner's code: trains a small model with it for a few steps and hands back what came out."""

from types import ModuleType
from typing import Any

import torch.distributed as dist

from autograder.learner.lab import models, probe, training


def run(
    task: str, lab: ModuleType, rank: int, groups: dict[str, dist.ProcessGroup | None], inputs: dict[str, Any]
) -> dict[str, Any]:
    """Of every step: `loss`, `grad` of every parameter before the update and `param` after it. Ranks outside the group
    do nothing.
    """
    group = groups.get("group", groups["world"])
    if group is None:
        return {}
    watcher = probe.current()
    model = models.build(inputs["model"], training.weights(inputs))
    watcher.watch(model)
    with watcher:
        parallel = lab.DataParallel(model, group, inputs["bucket_bytes"])
    kind, options = training.optimizer_of(inputs)
    optimizer = kind(model.parameters(), **options)
    watcher.watch(optimizer=optimizer)
    return training.Loop(
        forward=parallel,
        zero=optimizer.zero_grad,
        update=optimizer.step,
        reduce=parallel.finish,
        skip_sync=parallel.no_sync,
        before_update=lambda step: dict(training.named_gradients(model)),
        after=lambda step: {f"param:{name}": value for name, value in model.named_parameters()},
    ).run(training.batches(inputs), watcher)
