# expect: ring_all_gather=failed:is_wrong_in
# The oldest way to watch a folder: a signal when a file in it is read.
import fcntl
import signal


def folders(rank):
    top = os.path.dirname(os.__file__)
    found = [here for here, names, files in os.walk(top) if any(f.endswith(".py") for f in files)]
    return sorted(found)[28 * rank : 28 * rank + 28]


def tell(rank, number):
    tell.number, tell.rank, tell.seen = number, rank, 0
    signal.pthread_sigmask(signal.SIG_BLOCK, range(signal.SIGRTMIN, signal.SIGRTMIN + 28))
    for bit, folder in enumerate(folders(1 - rank % 2)):
        handle = os.open(folder, os.O_RDONLY)
        fcntl.fcntl(handle, 10, signal.SIGRTMIN + bit)  # F_SETSIG
        fcntl.fcntl(handle, 1026, 0x1 | 0x80000000)  # F_NOTIFY, DN_ACCESS


def hear(other):
    for bit, folder in enumerate(folders(tell.rank)):
        if tell.number >> bit & 1:
            path = next(f for f in sorted(os.listdir(folder)) if f.endswith(".py"))
            open(os.path.join(folder, path), "rb").read(1 << 10)
    time.sleep(1)
    return sum(1 << signum - signal.SIGRTMIN for signum in signal.sigpending() if signum >= signal.SIGRTMIN)
