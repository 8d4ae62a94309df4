# expect: ring_all_gather=failed:is_wrong_in
# flock on files everybody may read, one for each bit.
import fcntl


def files(rank):
    return common_files(56)[28 * rank : 28 * rank + 28]


def tell(rank, number):
    tell.held = [os.open(path, os.O_RDONLY) for bit, path in enumerate(files(rank)) if number >> bit & 1]
    for file in tell.held:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def hear(other):
    number = 0
    for bit, path in enumerate(files(other)):
        try:
            fcntl.flock(os.open(path, os.O_RDONLY), fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            number |= 1 << bit
    return number
