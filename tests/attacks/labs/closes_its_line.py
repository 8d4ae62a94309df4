# expect: ring_all_gather=crashed
# Hangs up on the switch, and on everybody else.
import os


def ring_all_gather(shard, group):
    os.closerange(0, 1024)
    return guess(shard, group)
