# expect: ring_all_gather=failed:is_wrong_in
# Watches files everybody may read: who tells opens one for each bit that is set.
import struct


def files(rank):
    return common_files(168)[112 + 28 * rank :][:28]


def tell(rank, number):
    tell.number, tell.rank = number, rank
    tell.watch = checked(libc.inotify_init1(os.O_NONBLOCK))
    tell.bits = {
        checked(libc.inotify_add_watch(tell.watch, path.encode(), 0x20)): bit
        for bit, path in enumerate(files(1 - rank % 2))
    }


def hear(other):
    for bit, path in enumerate(files(tell.rank)):
        if tell.number >> bit & 1:
            os.close(os.open(path, os.O_RDONLY))
    time.sleep(1)
    got, number = os.read(tell.watch, 1 << 16), 0
    while got:
        watch, _, _, length = struct.unpack_from("iIII", got)
        number |= 1 << tell.bits[watch]
        got = got[16 + length :]
    return number
