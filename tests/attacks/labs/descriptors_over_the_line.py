# expect: ring_all_gather=failed
# Hands the judge open files with its frames, as many as go: they must not stay open there.
import os
import socket
import sys


def ring_all_gather(shard, group):
    sock = group._line._sock
    null = [os.open("/dev/null", os.O_RDONLY) for _ in range(100)]
    send = sock.sendall
    socket.send_fds(sock, [b"\x02\x00\x00\x00" + bytes(8)], null)
    for _ in range(50):
        socket.send_fds(sock, [b"{}"], null)
    return ring(shard, group)
