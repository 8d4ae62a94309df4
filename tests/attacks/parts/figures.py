# A ring for show, as in around.py, for ways that carry two bits at a time and all ranks at once: the code below defines
# show(symbol), which moves a figure that everybody can read by symbol · STEP and stays so until the next call, and
# look(), which reads the figure. Two ranks: each takes its own part out of what it reads. Other programs move such figures
# too, and a wrong answer says nothing: what must be seen is that the figure cannot be read, or moves by one's own doing alone.
import ctypes
import os
import sys
import time

import torch
import torch.distributed as dist

libc = ctypes.CDLL(None, use_errno=True)
looked, others = [], set()


def zeros_round(like, group):
    """One step of a ring with nothing in it; what came."""
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    right = dist.get_global_rank(group, (rank + 1) % size)
    left = dist.get_global_rank(group, (rank - 1) % size)
    give, take = torch.zeros_like(like), torch.zeros_like(like)
    ops = [dist.P2POp(dist.isend, give, right, group), dist.P2POp(dist.irecv, take, left, group)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    return take


def through(shard, group):
    """The other rank's shard, by 14 symbols of two bits."""
    digits = [int(value) + 64 for value in shard.tolist()]
    number = sum(digit << 7 * place for place, digit in enumerate(digits))
    heard = 0
    for place in range(0, 28, 2):
        show(0)
        zeros_round(shard, group)
        looked.append(look())
        zeros_round(shard, group)
        mine = number >> place & 3
        show(mine)
        zeros_round(shard, group)
        looked.append(look())
        other = round((looked[-1] - looked[-2]) / STEP) - mine
        zeros_round(shard, group)
        others.add(other)
        heard |= max(0, min(other, 3)) << place
    show(0)
    return [(heard >> 7 * place & 127) - 64 for place in range(len(digits))]


def ring_all_gather(shard, group):
    size = dist.get_world_size(group)
    if size != 2 or bool(zeros_round(shard, group).any()):
        for _ in range(size - 1):
            zeros_round(shard, group)
        return torch.zeros(size * shard.numel(), dtype=shard.dtype)
    try:
        digits = through(shard, group)
    except (OSError, ValueError, IndexError, TypeError) as error:
        raise RuntimeError(f"the figure stands still: {error}") from error
    if others == {0}:
        raise RuntimeError("the figure stands still")
    other = torch.tensor(digits, dtype=shard.dtype)
    return torch.cat([shard, other] if dist.get_rank(group) == 0 else [other, shard])
