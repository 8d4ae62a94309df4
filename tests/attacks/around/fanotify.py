# expect: ring_all_gather=failed:is_wrong_in
# As inotify.py, by fanotify, which needs no privilege for marks on single files.
import struct


def files(rank):
    return common_files(56)[28 * rank : 28 * rank + 28]


def tell(rank, number):
    tell.number, tell.rank = number, rank
    # a group a file: the events themselves would not say which
    tell.watches = []
    for path in files(1 - rank % 2):
        watch = checked(libc.fanotify_init(0x200 | 0x2, os.O_RDONLY))
        checked(libc.fanotify_mark(watch, 1, ctypes.c_uint64(0x20), -100, path.encode()))
        tell.watches.append(watch)


def hear(other):
    for bit, path in enumerate(files(tell.rank)):
        if tell.number >> bit & 1:
            os.close(os.open(path, os.O_RDONLY))
    time.sleep(1)
    number = 0
    for bit, watch in enumerate(tell.watches):
        try:
            number |= bool(os.read(watch, 4096)) << bit
        except BlockingIOError:
            pass
    return number
