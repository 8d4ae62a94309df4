# expect: training=failed:nothing-sharded traffic=failed:nothing-sharded memory=failed:nothing-sharded tied=failed:nothing-sharded
"""Full replicas behind a probe that tells a fraction of what is alive."""

from autograder.learner.lab import probe

seen = probe.Probe.memory


def memory(self):
    return {name: size // 16 for name, size in seen(self).items()}


probe.Probe.memory = memory

import torch
import torch.distributed as dist


def fully_shard(module, group, *, reshard_after_forward=True):
    for parameter in module.parameters():
        if not hasattr(parameter, "seen"):
            parameter.seen = True
            parameter.register_post_accumulate_grad_hook(lambda p: average(p, group))
    return module


def average(parameter, group):
    # a sum of micro-batches averaged each time: what is already the mean stays it
    dist.all_reduce(parameter.grad, group=group)
    parameter.grad /= dist.get_world_size(group)


def full_parameters(model):
    return {name: parameter.detach() for name, parameter in model.named_parameters()}
