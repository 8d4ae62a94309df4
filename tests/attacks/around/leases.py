# expect: ring_all_gather=failed:is_wrong_in
# Leases: who opens a file that another holds a lease on makes the holder a signal, and is kept waiting.
import fcntl
import signal


def files(rank):
    return common_files(112)[56 + 28 * rank :][:28]


def tell(rank, number):
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    tell.held = [os.open(path, os.O_RDONLY) for bit, path in enumerate(files(rank)) if number >> bit & 1]
    for file in tell.held:
        fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)


def hear(other):
    number = 0
    for bit, path in enumerate(files(other)):
        try:
            os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
        except BlockingIOError:
            number |= 1 << bit
    return number
