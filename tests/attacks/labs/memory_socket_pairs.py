# expect: ring_all_gather=limit
# control: right_memory
# What lies in sockets is the kernel's memory, like what lies in pipes.
import resource
import socket


def hold(size):
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    except OSError as error:
        print(error)
    held, kept = 0, []
    while held < size:
        try:
            kept.append(socket.socketpair())
        except OSError as error:
            raise MemoryError(error) from error
        kept[-1][0].setblocking(False)
        try:
            while True:
                held += kept[-1][0].send(bytes(1 << 15))
        except BlockingIOError:
            pass
    return kept


def ring_all_gather(shard, group):
    held = hold(1 << 30) if dist.get_rank(group) == 0 else None
    return ring(shard, group)
