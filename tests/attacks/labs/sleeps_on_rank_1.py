# expect: ring_all_gather=timeout:rank_1:_waits_for_nobody
# seconds: 3
import time


def ring_all_gather(shard, group):
    if dist.get_rank(group) == 1:
        time.sleep(100_000)
    return ring(shard, group)
