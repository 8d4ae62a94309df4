# expect: ring_all_gather=failed:is_wrong_in
# Abstract unix sockets.
import socket


def tell(rank, number):
    global listening
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    listening.bind(f"\0{NAME}-{rank}")
    listening.setblocking(False)
    sender.number = number, rank


def sender():
    pass


def hear(other):
    number, rank = sender.number
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as out:
        out.sendto(str(number).encode(), f"\0{NAME}-{other}")
    for _ in range(100):
        try:
            return int(listening.recv(64))
        except BlockingIOError:
            time.sleep(0.02)
