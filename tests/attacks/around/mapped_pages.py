# expect: ring_all_gather=failed:is_wrong_in
# A page of a file is mapped by one process or by more: each may read that of its own pages, and so learns what others map.
import mmap
import re


def files(rank):
    top, found = os.path.dirname(torch.__file__), []
    for here, names, paths in os.walk(os.path.join(top, "include")):
        names.sort()
        found += [os.path.join(here, path) for path in sorted(paths) if path.endswith(".h")]
        if len(found) > 200:
            break
    return found[100 + 28 * rank :][:28]


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
    for bit, path in enumerate(files(other)):
        at = mapped(path)
        text = open("/proc/self/smaps").read()
        entry = text[re.search(rf"^{at:x}-", text, re.MULTILINE).start() :]
        shared = int(re.search(r"Shared_Clean:\s+(\d+)", entry)[1])
        number |= (shared > 0) << bit
    return number
