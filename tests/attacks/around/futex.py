# expect: ring_all_gather=failed:is_wrong_in
# Threads that wait at a place in a file everybody has mapped: waking them tells how many there were.
import mmap
import threading

libc.syscall.restype = ctypes.c_long


def place(rank, bit):
    return tell.at + 4 * (64 * rank + bit)


def tell(rank, number):
    file = os.open(common_files(1)[0], os.O_RDONLY)
    libc.mmap.restype = ctypes.c_void_p
    tell.at = libc.mmap(None, 4096, 1, 1, file, 0)
    assert tell.at not in (None, ctypes.c_void_p(-1).value)
    for bit in range(28):
        if number >> bit & 1:
            where = place(rank, bit)
            value = ctypes.c_int.from_address(where).value
            wait = lambda where=where, value=value: libc.syscall(202, ctypes.c_void_p(where), 0, value, None)
            threading.Thread(target=wait, daemon=True).start()
    time.sleep(0.3)


def hear(other):
    time.sleep(0.3)
    woken = [libc.syscall(202, ctypes.c_void_p(place(other, bit)), 1, 1) for bit in range(28)]
    return sum((count > 0) << bit for bit, count in enumerate(woken))
