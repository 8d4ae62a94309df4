# expect: ring_all_gather=failed:the_figure_stands_still
# How many descriptors one's user has on their way in sockets, where all ranks are one user.
import resource
import socket

STEP = -20
held = []


def show(symbol):
    while held:
        for end in held.pop():
            end.close()
    for _ in range(symbol):
        held.append(socket.socketpair())
        socket.send_fds(held[-1][0], [b"x"], [0] * -STEP)


def look():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    low, high = 0, 400
    pair = socket.socketpair()
    while high - low > 1:
        middle = (low + high) // 2
        resource.setrlimit(resource.RLIMIT_NOFILE, (middle, hard))
        try:
            socket.send_fds(pair[0], [b"x"], [0])
            pair[1].recv(1)
            low, high = low, middle
        except OSError:
            low, high = middle, high
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    for end in pair:
        end.close()
    return -high
