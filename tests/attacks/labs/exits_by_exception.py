# expect: ring_all_gather=failed:SystemExit
import sys


def ring_all_gather(shard, group):
    sys.exit(0)
