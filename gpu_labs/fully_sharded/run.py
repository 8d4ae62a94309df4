"""In the box, beside the learner's code: shards a small model with it, trains it and hands back what came out."""

from types import ModuleType
from typing import Any

import torch.distributed as dist

from autograder.learner.lab import models, probe, training


def run(
    task: str, lab: ModuleType, rank: int, groups: dict[str, dist.ProcessGroup | None], inputs: dict[str, Any]
) -> dict[str, Any]:
    """Of every step `loss`, and after the last one `param` of every parameter (with `sums`: its sums). Ranks outside
    the group do nothing. Every layer is a unit, but a tied one belongs to the root, with its twin.
    """
    group = groups.get("group", groups["world"])
    if group is None:
        return {}
    watcher = probe.current()
    model = models.build(inputs["model"], training.weights(inputs))
    watcher.watch(model)
    keep = bool(inputs.get("reshard", True))
    with watcher:
        for layer in list(model.layers)[1 if model.head is not None else 0 :]:
            lab.fully_shard(layer, group, reshard_after_forward=keep)
        lab.fully_shard(model, group, reshard_after_forward=keep)
    kind, options = training.optimizer_of(inputs)
    optimizer = kind(model.parameters(), **options)
    watcher.watch(optimizer=optimizer)
    last = int(inputs["steps"]) - 1

    def after(step: int) -> dict[str, Any]:
        whole = lab.full_parameters(model) if step == last else {}
        pairs = whole.items()
        if inputs.get("sums"):
            return dict(training.summed(f"param:{name}", value) for name, value in pairs)
        return {f"param:{name}": value for name, value in pairs}

    return training.Loop(
        forward=model,
        zero=lambda: optimizer.zero_grad(set_to_none=True),
        update=optimizer.step,
        after=after,
    ).run(training.batches(inputs), watcher)
