# expect: ring_all_gather=failed:past_the_process_group
# An ending with 2^60 bytes to follow.
import struct


def ring_all_gather(shard, group):
    group._line._sock.sendall(struct.pack("<IQ", 50, 1 << 60))
    return ring(shard, group)
