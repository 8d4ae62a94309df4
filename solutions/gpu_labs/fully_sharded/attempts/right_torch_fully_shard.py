# expect: training=passed traffic=passed memory=passed tied=passed
"""torch's own fully_shard."""

import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import fully_shard as shard


def fully_shard(module, group, *, reshard_after_forward=True):
    mesh = DeviceMesh.from_group(group, "cpu")
    shard(module, mesh=mesh, reshard_after_forward=reshard_after_forward)
    return module


def full_parameters(model):
    return {name: parameter.detach().full_tensor() for name, parameter in model.named_parameters()}
