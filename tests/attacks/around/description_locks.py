# expect: ring_all_gather=failed:is_wrong_in
# Locks of open file descriptions, as record_locks.py; these pass between threads and fork too.
import fcntl
import struct


def lock(kind, byte):
    return struct.pack("hhqqi", kind, os.SEEK_SET, 4096 + byte, 1, 0)


def tell(rank, number):
    tell.file = os.open(common_files(1)[0], os.O_RDONLY)
    for bit in range(28):
        if number >> bit & 1:
            fcntl.fcntl(tell.file, 37, lock(fcntl.F_RDLCK, 64 * rank + bit))


def hear(other):
    held = [
        struct.unpack("hhqqi", fcntl.fcntl(tell.file, 36, lock(fcntl.F_WRLCK, 64 * other + bit)))[0]
        for bit in range(28)
    ]
    return sum((kind != fcntl.F_UNLCK) << bit for bit, kind in enumerate(held))
