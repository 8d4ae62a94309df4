# expect: ring_all_gather=failed:is_wrong_in
# A handler that would end the process with success after a wrong answer.
import atexit
import os

atexit.register(os._exit, 0)


def ring_all_gather(shard, group):
    return guess(shard, group)
