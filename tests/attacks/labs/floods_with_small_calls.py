# expect: ring_all_gather=failed
# seconds: 30
# As many calls as it can make, none of them taken.
def ring_all_gather(shard, group):
    rank = dist.get_rank(group)
    if rank == 0:
        none = torch.zeros(0)
        for tag in range(300_000):
            dist.isend(none, 1, group, 1 + tag % 1000)
    return ring(shard, group)
