# expect: ring_all_gather=failed:expected_a_tensor
# Lists in lists, deeper than a parser goes.
def ring_all_gather(shard, group):
    out = []
    for _ in range(100_000):
        out = [out]
    return out
