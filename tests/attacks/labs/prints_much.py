# expect: ring_all_gather=passed
# Half a GiB on each of its outputs, and then the right answer: what it prints is cut, and costs nobody.
import os


def ring_all_gather(shard, group):
    if dist.get_rank(group) == 0:
        for fd in (1, 2):
            for _ in range(8192):
                os.write(fd, b"x" * (1 << 16))
    return ring(shard, group)
