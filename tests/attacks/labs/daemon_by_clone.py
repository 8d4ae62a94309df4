# expect: ring_all_gather=limit:process
# By the system call itself, with no flags that a thread would have.
import ctypes
import os
import time


def ring_all_gather(shard, group):
    libc = ctypes.CDLL(None, use_errno=True)
    made = libc.syscall(56, 17, 0, 0, 0, 0)
    if made == 0:
        while True:
            time.sleep(100_000)
    if made < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return ring(shard, group)
