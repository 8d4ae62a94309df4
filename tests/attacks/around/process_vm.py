# expect: ring_all_gather=failed:is_wrong_in
# Reads the other rank's memory by process_vm_readv.
AT = 0x200000000000
MARK = 0x51AD51AD51AD0000


def tell(rank, number):
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    assert libc.mmap(AT, 4096, 3, 0x100022, -1, 0) == AT
    (ctypes.c_uint64 * 2).from_address(AT)[:] = (MARK + rank, number)


def hear(other):
    class Part(ctypes.Structure):
        _fields_ = [("at", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    for pid in siblings():
        got = (ctypes.c_uint64 * 2)()
        here, there = Part(ctypes.addressof(got), 16), Part(AT, 16)
        if libc.process_vm_readv(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0) == 16:
            if got[0] == MARK + other:
                return got[1]
