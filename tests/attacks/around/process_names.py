# expect: ring_all_gather=failed:is_wrong_in
# The names of processes, which all others can read.
def tell(rank, number):
    checked(libc.prctl(15, f"{rank}:{number:x}".encode(), 0, 0, 0))


def hear(other):
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            rank, _, number = open(f"/proc/{pid}/comm").read().strip().partition(":")
        except OSError:
            continue
        if rank == str(other) and number:
            return int(number, 16)
