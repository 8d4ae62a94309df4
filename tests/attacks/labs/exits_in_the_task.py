# expect: ring_all_gather=crashed:before_its_code_returned
import os


def ring_all_gather(shard, group):
    os._exit(0)
