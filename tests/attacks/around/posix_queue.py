# expect: ring_all_gather=failed:is_wrong_in
# POSIX message queues.
def opened(rank):
    class Attributes(ctypes.Structure):
        _fields_ = [
            (name, ctypes.c_long) for name in ("flags", "most", "size", "current", "a", "b", "c", "d")
        ]

    return checked(
        libc.mq_open(
            f"/{NAME}-{rank}".encode(),
            os.O_RDWR | os.O_CREAT | os.O_NONBLOCK,
            0o666,
            ctypes.byref(Attributes(0, 4, 64)),
        )
    )


def tell(rank, number):
    checked(libc.mq_send(opened(rank), str(number).encode(), len(str(number)), 0))


def hear(other):
    text = ctypes.create_string_buffer(64)
    length = checked(libc.mq_receive(opened(other), text, 64, None))
    libc.mq_unlink(f"/{NAME}-{other}".encode())
    return int(text.raw[:length])
