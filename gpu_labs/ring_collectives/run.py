"""In the box, beside the learner's code: calls one function on one rank and hands back what it returned."""

from types import ModuleType
from typing import Any

import torch.distributed as dist


def run(
    task: str, lab: ModuleType, rank: int, groups: dict[str, dist.ProcessGroup | None], inputs: dict[str, Any]
) -> dict[str, Any]:
    """`out`: what `lab.<task>(x, group)` returned; `x`: the input after the call. Ranks outside it do nothing."""
    group = groups["group"] if "group" in groups else groups["world"]
    if group is None:
        return {}
    x = inputs["x"]
    return {"out": getattr(lab, task)(x, group), "x": x}
