# expect: ring_all_gather=failed
# seconds: 20
# Sends what nobody takes, a MiB a time.
def ring_all_gather(shard, group):
    rank = dist.get_rank(group)
    if rank == 0:
        big = torch.zeros(1 << 18)
        for tag in range(4000):
            dist.isend(big, 1, group, tag)
    return ring(shard, group)
