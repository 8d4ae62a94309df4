# expect: ring_all_gather=limit:process
# Processes until no more are given, but for a bound that spares a machine on which nothing stops it.
import os
import time


def ring_all_gather(shard, group):
    for _ in range(3000):
        if os.fork() == 0:
            time.sleep(100_000)
    return ring(shard, group)
