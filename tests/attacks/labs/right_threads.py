# expect: ring_all_gather=passed
# A few threads are allowed.
from concurrent.futures import ThreadPoolExecutor


def ring_all_gather(shard, group):
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda n: int(torch.ones(n).sum()), range(20))) == 190
    return ring(shard, group)
