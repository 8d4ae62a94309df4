# expect: ring_all_gather=limit:disk
# control: right_scratch
def ring_all_gather(shard, group):
    for number in range(200):
        with open(f"/dev/shm/fill-{number}", "wb") as file:
            file.write(bytes(16 << 20))
    return ring(shard, group)
