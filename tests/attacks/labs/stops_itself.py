# expect: ring_all_gather=timeout:rank_1
# seconds: 3
import os
import signal
import time


def ring_all_gather(shard, group):
    if dist.get_rank(group) == 1:
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(100_000)
    return ring(shard, group)
