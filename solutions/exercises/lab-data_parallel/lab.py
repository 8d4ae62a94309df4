"""Data parallelism: N replicas, each with data of its own, that stay one model because their gradients are averaged.

The story, the maths and what is graded stand in this lab's README.md. N is the number of ranks in `group`, P the bytes
of all gradients.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist
from torch import Tensor, nn


def plan_buckets(parameters: list[nn.Parameter], bucket_bytes: int) -> list[list[nn.Parameter]]:
    """Which gradients travel together.

    Args:
        parameters: in the order of forward.
        bucket_bytes: a bucket is full when the next gradient would take it past this. A gradient larger than that
            travels alone.

    Returns:
        Buckets in the order in which backward completes them: the last layers' first. Every parameter is in exactly one
        bucket, and all of a bucket have one dtype.

    Source: Li et al., "PyTorch Distributed: Experiences on Accelerating Data Parallel Training" (2020), section 3.2.3.
    """
    raise NotImplementedError()


class DataParallel(nn.Module):
    """A module whose gradients are, after `finish()`, the mean over the ranks of `group`.

    A step of training reads

        with parallel.no_sync():                # all micro-batches of a step but the last
            loss(parallel(x)).backward()
        loss(parallel(x)).backward()            # gradients begin to travel while backward still computes
        parallel.finish()                       # now every .grad is the mean, on every rank
        optimizer.step()
    """

    def __init__(self, module: nn.Module, group: dist.ProcessGroup, bucket_bytes: int = 25 << 20) -> None:
        """Makes all ranks start from the same weights, and watches for gradients.

        Args:
            module: the same architecture on every rank; every parameter takes part in every forward. Its parameters
                and buffers are overwritten, in place, with those of the group's first rank.
            group: the ranks that hold replicas; they need not be ranks 0 … N−1 of the world.
            bucket_bytes: how many bytes of gradients travel in one all-reduce, see `plan_buckets`.
        """
        super().__init__()
        self.module = module
        self.group = group
        raise NotImplementedError()

    def forward(self, *args: Tensor, **kwargs: Tensor) -> Tensor:
        """What the module itself gives."""
        return self.module(*args, **kwargs)

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Inside it, backward adds to `.grad` and sends nothing: for every micro-batch of a step but the last."""
        raise NotImplementedError()

    def finish(self) -> None:
        """Returns when every parameter's `.grad` is the mean over ranks of what the ranks had accumulated.

        Traffic a rank and step: one all-reduce of each gradient, 2 (N−1)/N · P bytes in all, with or without buckets.
        At N = 1 it changes nothing.
        """
        raise NotImplementedError()

    raise NotImplementedError()
