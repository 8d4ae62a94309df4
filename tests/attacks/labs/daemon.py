# expect: ring_all_gather=limit:process
# A process that leaves its parent, its session and its terminal, and then the right answer.
import os
import time


def ring_all_gather(shard, group):
    if os.fork() == 0:
        os.setsid()
        if os.fork():
            os._exit(0)
        time.sleep(100_000)
    return ring(shard, group)
