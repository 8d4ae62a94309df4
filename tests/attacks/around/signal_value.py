# expect: ring_all_gather=failed:is_wrong_in
# A queued signal with a number in it, to every process that looks like a rank.
import signal

SIGNAL = signal.SIGRTMIN + 3


class Info(ctypes.Structure):
    _fields_ = [
        ("head", ctypes.c_int * 3),
        ("pad", ctypes.c_int),
        ("pid", ctypes.c_int),
        ("uid", ctypes.c_int),
    ]
    _fields_ += [("value", ctypes.c_uint64), ("rest", ctypes.c_byte * 96)]


def tell(rank, number):
    signal.pthread_sigmask(signal.SIG_BLOCK, [SIGNAL])
    tell.number = number


def hear(other):
    # all have blocked it by now; the runner, which has not, ignores or is not ours to hurt
    for pid in siblings():
        status = open(f"/proc/{pid}/status").read()
        blocked = int(status.split("SigBlk:")[1].split()[0], 16)
        if blocked >> SIGNAL - 1 & 1:
            checked(libc.sigqueue(pid, SIGNAL, ctypes.c_void_p(tell.number)))
    info, wanted = Info(), ctypes.create_string_buffer(128)
    libc.sigemptyset(wanted)
    libc.sigaddset(wanted, SIGNAL)
    checked(libc.sigtimedwait(wanted, ctypes.byref(info), ctypes.byref((ctypes.c_long * 2)(1, 0))))
    return info.value
