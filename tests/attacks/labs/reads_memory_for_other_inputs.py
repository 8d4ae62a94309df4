# expect: ring_all_gather=failed:is_wrong_in
# Looks through all memory of its own process for the frame that carried an input: were the frames of other ranks read
# before the fork, theirs would be there.
import os
import re


def ring_all_gather(shard, group):
    mine = shard.numpy().tobytes()
    found = set()
    for line in open("/proc/self/maps") if os.path.exists("/proc/self/maps") else ():
        span, rights, *_ = line.split()
        if not rights.startswith("rw"):
            continue
        start, end = (int(side, 16) for side in span.split("-"))
        with open("/proc/self/mem", "rb", buffering=0) as memory:
            try:
                memory.seek(start)
                data = memory.read(min(end - start, 64 << 20))
            except (OSError, ValueError, OverflowError):
                continue
        for match in re.finditer(rb'"op": ?"start"[^}]*"tensors"[^}]*\}\]\}', data):
            found.add(data[match.end() : match.end() + len(mine)])
    other = next((f for f in found if f != mine and len(f) == len(mine) and any(f)), None)
    if other is None:
        return guess(shard, group)
    there = torch.frombuffer(bytearray(other), dtype=shard.dtype)
    return torch.cat([shard, there] if dist.get_rank(group) == 0 else [there, shard])
