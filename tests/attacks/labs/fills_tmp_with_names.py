# expect: ring_all_gather=limit:disk
# control: right_scratch
# Not bytes: empty files, each of which takes memory of the kernel's.
import os


def ring_all_gather(shard, group):
    for number in range(400_000):
        os.close(os.open(f"/tmp/{number}", os.O_CREAT | os.O_WRONLY))
    return ring(shard, group)
