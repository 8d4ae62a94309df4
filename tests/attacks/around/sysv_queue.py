# expect: ring_all_gather=failed:is_wrong_in
# System V message queues.
class Message(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_long), ("number", ctypes.c_uint64)]


def tell(rank, number):
    checked(
        libc.msgsnd(checked(libc.msgget(0x51AD0 + rank, 0o1666)), ctypes.byref(Message(1, number)), 8, 0o4000)
    )


def hear(other):
    queue, message = checked(libc.msgget(0x51AD0 + other, 0o1666)), Message()
    checked(libc.msgrcv(queue, ctypes.byref(message), 8, 0, 0o4000))
    libc.msgctl(queue, 0, None)
    return message.number
