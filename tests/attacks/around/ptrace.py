# expect: ring_all_gather=failed:is_wrong_in
# Reads the other rank's memory as its debugger.
AT = 0x200000000000
MARK = 0x51AD51AD51AD0000


def tell(rank, number):
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    assert libc.mmap(AT, 4096, 3, 0x100022, -1, 0) == AT
    (ctypes.c_uint64 * 2).from_address(AT)[:] = (MARK + rank, number)


def hear(other):
    libc.ptrace.restype = ctypes.c_long
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
    # one after the other, or both stop each other for good
    time.sleep(0.5 * (1 - other))
    for pid in siblings():
        if libc.ptrace(0x4206, pid, None, None):  # SEIZE
            continue
        checked(libc.ptrace(0x4207, pid, None, None))  # INTERRUPT
        checked(libc.waitpid(pid, None, 0x40000000))
        got = [libc.ptrace(2, pid, ctypes.c_void_p(AT + place), None) for place in (0, 8)]
        libc.ptrace(17, pid, None, None)
        if got[0] & (1 << 64) - 1 == MARK + other:
            return got[1]
