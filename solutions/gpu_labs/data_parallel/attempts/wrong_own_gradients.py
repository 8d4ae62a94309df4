# expect: same_start=failed:not-reduced averaged=failed:not-reduced overlap=failed:not-reduced no_sync=failed:not-reduced
"""Nothing is sent at all."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist
from torch import Tensor, nn


def plan_buckets(parameters: list[nn.Parameter], bucket_bytes: int) -> list[list[nn.Parameter]]:
    buckets: list[list[nn.Parameter]] = []
    size = 0
    for parameter in reversed(parameters):
        nbytes = parameter.numel() * parameter.element_size()
        full = size + nbytes > bucket_bytes
        if not buckets or full or buckets[-1][0].dtype != parameter.dtype:
            buckets.append([])
            size = 0
        buckets[-1].append(parameter)
        size += nbytes
    return buckets


class DataParallel(nn.Module):
    def __init__(self, module: nn.Module, group: dist.ProcessGroup, bucket_bytes: int = 25 << 20) -> None:
        super().__init__()
        self.module = module
        self.group = group
        first = dist.get_global_rank(group, 0)
        for tensor in (*module.parameters(), *module.buffers()):
            # broadcast: rank 0 → all
            dist.broadcast(tensor.detach(), src=first, group=group)
        self._buckets = plan_buckets(list(module.parameters()), bucket_bytes)
        self._missing = [len(bucket) for bucket in self._buckets]
        self._sent: list[tuple[int, Tensor, dist.Work]] = []
        self._syncs = True
        for number, bucket in enumerate(self._buckets):
            for parameter in bucket:
                parameter.register_post_accumulate_grad_hook(self._hook(number))

    def forward(self, *args: Tensor, **kwargs: Tensor) -> Tensor:
        return self.module(*args, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        self._syncs = False
        try:
            yield
        finally:
            self._syncs = True

    def finish(self) -> None:
        for number, flat, work in self._sent:
            work.wait()
            bucket = self._buckets[number]
            pieces = flat.split([parameter.numel() for parameter in bucket])
            for parameter, piece in zip(bucket, pieces, strict=True):
                parameter.grad.copy_(piece.view_as(parameter))
        self._sent.clear()
        self._missing = [len(bucket) for bucket in self._buckets]

    def _hook(self, number: int) -> Callable[[nn.Parameter], None]:

        def arrived(_: nn.Parameter) -> None:
            if not self._syncs:
                return
            self._missing[number] -= 1

        return arrived

    def _send(self, number: int) -> None:
        flat = torch.cat([parameter.grad.reshape(-1) for parameter in self._buckets[number]])
        # dividing before the sum keeps it in range; all-reduce: every rank's part → the sum, on every rank
        flat /= dist.get_world_size(self.group)
        self._sent.append((number, flat, dist.all_reduce(flat, group=self.group, async_op=True)))
