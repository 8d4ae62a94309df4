# expect: ring_all_gather=failed:is_wrong_in
# What all ranks were born with: memory mapped as shared before they were forked.
def shared():
    for line in open("/proc/self/maps"):
        span, rights, *_ = line.split()
        if rights.startswith("rw") and rights.endswith("s"):
            start, end = (int(side, 16) for side in span.split("-"))
            yield start, end


def tell(rank, number):
    for _, end in shared():
        (ctypes.c_uint64).from_address(end - 8 * (rank + 1)).value = number + 1


def hear(other):
    for _, end in shared():
        number = ctypes.c_uint64.from_address(end - 8 * (other + 1)).value
        if number:
            return number - 1
