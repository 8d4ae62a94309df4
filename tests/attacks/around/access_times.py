# expect: ring_all_gather=failed:is_wrong_in
# When a file everybody may read was last read.
def files(rank):
    return common_files(112)[28 * rank + 56 : 28 * rank + 84]


def tell(rank, number):
    tell.times = [os.stat(path).st_atime_ns for path in files(1 - rank % 2)]
    tell.number, tell.rank = number, rank


def hear(other):
    for bit, path in enumerate(files(tell.rank)):
        if tell.number >> bit & 1:
            open(path, "rb").read()
            try:
                os.utime(path)
            except OSError:
                pass
    time.sleep(0.5)
    now = [os.stat(path).st_atime_ns for path in files(other)]
    return sum((a != b) << bit for bit, (a, b) in enumerate(zip(tell.times, now)))
