# expect: ring_all_gather=failed:is_wrong_in
# As futex.py, but nobody calls wake: a thread that ends wakes whoever waits at the address it has named.
import threading

libc.syscall.restype = ctypes.c_long


def place(rank, bit):
    return tell.at + 2048 + 4 * (64 * rank + bit)


def tell(rank, number):
    file = os.open(common_files(1)[0], os.O_RDONLY)
    libc.mmap.restype = ctypes.c_void_p
    tell.at = libc.mmap(None, 4096, 1, 1, file, 0)
    assert tell.at not in (None, ctypes.c_void_p(-1).value)
    tell.rank, tell.number, tell.heard = rank, number, [0] * 28

    def wait(bit):
        where = place(1 - rank % 2, bit)
        timeout = (ctypes.c_long * 2)(2, 0)
        value = ctypes.c_int.from_address(where).value
        tell.heard[bit] = libc.syscall(202, ctypes.c_void_p(where), 0, value, timeout) == 0

    tell.waiting = [threading.Thread(target=wait, args=(bit,), daemon=True) for bit in range(28)]
    for thread in tell.waiting:
        thread.start()
    time.sleep(0.5)


def hear(other):
    time.sleep(0.3)

    def end(bit):
        libc.syscall(218, ctypes.c_void_p(place(tell.rank, bit)))  # set_tid_address
        libc.syscall(60, 0)  # exit, of this thread alone

    for bit in range(28):
        if tell.number >> bit & 1:
            libc.pthread_create(
                ctypes.byref(ctypes.c_ulong()),
                None,
                KEPT.setdefault(bit, BODY(lambda _, bit=bit: end(bit))),
                None,
            )
    for thread in tell.waiting:
        thread.join(3)
    return sum(int(woken) << bit for bit, woken in enumerate(tell.heard))


BODY = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
KEPT = {}
