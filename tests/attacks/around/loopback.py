# expect: ring_all_gather=failed:is_wrong_in
# UDP on the loopback device, in both families.
import socket


def tell(rank, number):
    global listening
    listening = []
    for family, home in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            made = socket.socket(family, socket.SOCK_DGRAM)
            made.bind((home, 23451 + rank))
            made.settimeout(1)
            listening.append((made, home))
        except OSError:
            pass
    tell.number = number


def hear(other):
    for made, home in listening:
        made.sendto(str(tell.number).encode(), (home, 23451 + other))
    return int(listening[0][0].recv(64))
