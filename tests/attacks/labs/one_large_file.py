# expect: ring_all_gather=limit:file
# control: right_scratch
def ring_all_gather(shard, group):
    with open("/tmp/large", "wb") as file:
        for _ in range(64):
            file.write(bytes(64 << 20))
    return ring(shard, group)
