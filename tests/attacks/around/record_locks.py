# expect: ring_all_gather=failed:is_wrong_in
# Record locks on a file everybody may read: a byte is locked for each bit that is set, and anyone may ask who holds it.
import fcntl
import struct


def lock(kind, byte):
    return struct.pack("hhqqi", kind, os.SEEK_SET, byte, 1, 0)


def tell(rank, number):
    tell.file = os.open(common_files(1)[0], os.O_RDONLY)
    for bit in range(28):
        if number >> bit & 1:
            fcntl.fcntl(tell.file, fcntl.F_SETLK, lock(fcntl.F_RDLCK, 64 * rank + bit))


def hear(other):
    held = [
        struct.unpack("hhqqi", fcntl.fcntl(tell.file, fcntl.F_GETLK, lock(fcntl.F_WRLCK, 64 * other + bit)))[
            0
        ]
        for bit in range(28)
    ]
    return sum((kind != fcntl.F_UNLCK) << bit for bit, kind in enumerate(held))
