# expect: ring_all_gather=failed:is_wrong_in
# Netlink's family for user programs: messages from port to port, no address, no device.
import socket


def tell(rank, number):
    global mine
    mine = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 2)
    mine.bind((0x51AD + rank, 0))
    mine.settimeout(1)
    tell.number = number


def hear(other):
    mine.sendto(str(tell.number).encode(), (0x51AD + other, 0))
    return int(mine.recv(64))
