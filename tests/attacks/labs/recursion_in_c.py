# expect: ring_all_gather=crashed:before_its_code_returned
# Past the end of the stack, where Python's own limit is taken away.
import sys


class Deep:
    def __repr__(self):
        return repr([self])


def ring_all_gather(shard, group):
    sys.setrecursionlimit(1 << 30)
    repr(Deep())
