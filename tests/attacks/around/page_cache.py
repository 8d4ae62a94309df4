# expect: ring_all_gather=failed:is_wrong_in
# Which pages of files everybody may read are in memory: one may drop them, read some, and the other may ask.
def files(rank):
    top, found = os.path.dirname(torch.__file__), []
    for here, names, paths in os.walk(os.path.join(top, "include")):
        names.sort()
        found += [os.path.join(here, path) for path in sorted(paths) if path.endswith(".h")]
        if len(found) > 60:
            break
    return found[28 * rank : 28 * rank + 28]


def tell(rank, number):
    for bit, path in enumerate(files(rank)):
        file = os.open(path, os.O_RDONLY)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        if number >> bit & 1:
            os.pread(file, 16, 0)
        os.close(file)


def hear(other):
    number = 0
    for bit, path in enumerate(files(other)):
        file = os.open(path, os.O_RDONLY)
        try:
            os.preadv(file, [bytearray(16)], 0, os.RWF_NOWAIT)
            number |= 1 << bit
        except BlockingIOError:
            pass
        os.close(file)
    return number
