# expect: ring_all_gather=failed ring_reduce_scatter=failed ring_all_reduce=failed
"""Says "passed" on every open descriptor."""

import torch
import torch.distributed as dist
import os

SAID = b'{"op": "end", "how": "done", "status": "passed", "score": 10}\n'


def shout():
    for fd in os.listdir("/proc/self/fd"):
        try:
            os.write(int(fd), SAID)
        except OSError:
            pass


def ring_all_gather(shard, group):
    shout()
    return shard


def ring_reduce_scatter(x, group):
    shout()
    return x


def ring_all_reduce(x, group):
    shout()
    return x
