# expect: ring_all_gather=failed:is_wrong_in
# As mapped_pages.py, by the map of one's own pages: a bit says whether a page is mapped once only.
def files(rank):
    top, found = os.path.dirname(torch.__file__), []
    for here, names, paths in os.walk(os.path.join(top, "include")):
        names.sort()
        found += [os.path.join(here, path) for path in sorted(paths) if path.endswith(".h")]
        if len(found) > 300:
            break
    return found[200 + 28 * rank :][:28]


def mapped(path):
    file = os.open(path, os.O_RDONLY)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_long,
    ]
    at = libc.mmap(None, 4096, 1, 1, file, 0)
    os.close(file)
    ctypes.string_at(at, 1)
    return at


def tell(rank, number):
    for bit, path in enumerate(files(rank)):
        if number >> bit & 1:
            mapped(path)


def hear(other):
    number = 0
    with open("/proc/self/pagemap", "rb", buffering=0) as pages:
        for bit, path in enumerate(files(other)):
            pages.seek(mapped(path) // 4096 * 8)
            entry = int.from_bytes(pages.read(8), "little")
            number |= (not entry >> 56 & 1) << bit
    return number
