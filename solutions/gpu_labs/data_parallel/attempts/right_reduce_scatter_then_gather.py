# expect: same_start=passed averaged=passed overlap=passed no_sync=passed
"""Each bucket is padded, reduce-scattered in backward and gathered in finish(): the two halves of an all-reduce."""

from contextlib import contextmanager

import torch
import torch.distributed as dist
from torch import nn


def plan_buckets(parameters, bucket_bytes):
    buckets = [[]]
    for parameter in reversed(parameters):
        together = sum(p.numel() * p.element_size() for p in [*buckets[-1], parameter])
        if buckets[-1] and together > bucket_bytes:
            buckets.append([])
        buckets[-1].append(parameter)
    return buckets


class DataParallel(nn.Module):
    def __init__(self, module, group, bucket_bytes=25 << 20):
        super().__init__()
        self.module, self.group, self.sync, self.sent = module, group, True, []
        for tensor in module.state_dict().values():
            dist.broadcast(tensor, src=dist.get_global_rank(group, 0), group=group)
        self.buckets = plan_buckets(list(module.parameters()), bucket_bytes)
        self.here = {p: n for n, bucket in enumerate(self.buckets) for p in bucket}
        self.left = [len(bucket) for bucket in self.buckets]
        for parameter in self.here:
            parameter.register_post_accumulate_grad_hook(self.arrived)

    def arrived(self, parameter):
        number = self.here[parameter]
        if not self.sync:
            return
        self.left[number] -= 1
        if self.left[number]:
            return
        size = dist.get_world_size(self.group)
        flat = torch.cat([p.grad.flatten() for p in self.buckets[number]])
        share = -(-flat.numel() // size)
        whole = flat.new_zeros(share * size)
        whole[: flat.numel()] = flat / size
        part = whole.new_empty(share)
        scatter = getattr(dist, "reduce_scatter_single", None) or dist.reduce_scatter_tensor
        self.sent.append((number, whole, part, scatter(part, whole, group=self.group, async_op=True)))

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    @contextmanager
    def no_sync(self):
        self.sync = False
        yield
        self.sync = True

    def finish(self):
        gather = getattr(dist, "all_gather_single", None) or dist.all_gather_into_tensor
        for number, whole, part, work in self.sent:
            work.wait()
            gather(whole, part, group=self.group)
            start = 0
            for p in self.buckets[number]:
                p.grad.copy_(whole[start : start + p.numel()].view_as(p))
                start += p.numel()
        self.sent = []
        self.left = [len(bucket) for bucket in self.buckets]
