# expect: ring_all_gather=failed:is_wrong_in
# Reads the other rank's memory in /proc.
AT = 0x200000000000
MARK = 0x51AD51AD51AD0000


def tell(rank, number):
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    assert libc.mmap(AT, 4096, 3, 0x100022, -1, 0) == AT
    (ctypes.c_uint64 * 2).from_address(AT)[:] = (MARK + rank, number)


def hear(other):
    for pid in siblings():
        try:
            with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
                memory.seek(AT)
                got = memory.read(16)
        except OSError as error:
            print(error)
            continue
        if int.from_bytes(got[:8], "little") == MARK + other:
            return int.from_bytes(got[8:], "little")
