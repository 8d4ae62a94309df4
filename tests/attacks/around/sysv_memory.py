# expect: ring_all_gather=failed:is_wrong_in
# System V shared memory.
def attached(rank):
    libc.shmat.restype = ctypes.c_void_p
    where = libc.shmat(checked(libc.shmget(0x51AD0 + rank, 64, 0o1666)), None, 0)
    return ctypes.c_uint64.from_address(where)


def tell(rank, number):
    attached(rank).value = number + 1


def hear(other):
    number = attached(other).value
    libc.shmctl(libc.shmget(0x51AD0 + other, 64, 0o1666), 0, None)
    return number - 1 if number else None
