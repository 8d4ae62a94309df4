# expect: ring_all_gather=failed:is_wrong_in
# What all ranks were born with: an open file's place, its flags and its owner are the file's, not the process's.
import fcntl


def inherited():
    for fd in range(3, 1024):
        try:
            os.fstat(fd)
        except OSError:
            continue
        yield fd


def tell(rank, number):
    tell.fds = list(inherited())
    for fd in tell.fds:
        for act in (
            lambda: os.lseek(fd, number + (rank << 28), os.SEEK_SET),
            lambda: fcntl.fcntl(fd, 10, 34 + rank),
        ):
            try:
                act()
            except OSError:
                pass
    tell.number = number


def hear(other):
    # one after the other: rank 0 writes first, then rank 1
    for fd in tell.fds:
        try:
            place = os.lseek(fd, 0, os.SEEK_CUR)
        except OSError:
            continue
        if place >> 28 == other:
            return place & (1 << 28) - 1
