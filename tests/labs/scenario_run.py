"""Runs one scenario of scenarios.py on one rank. What torch's wrappers need is imported here once, before the forks."""

import torch.distributed.fsdp
import torch.nn.parallel  # noqa: F401


def run(task, lab, rank, groups, inputs):
    return getattr(lab, task)(rank, groups, inputs) or {}
