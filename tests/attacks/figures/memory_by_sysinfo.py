# expect: ring_all_gather=failed:the_figure_stands_still
# How much shared memory the whole machine holds, by a system call.
import mmap

STEP = 16 << 20
held = []


class Info(ctypes.Structure):
    _fields_ = [("uptime", ctypes.c_long), ("loads", ctypes.c_ulong * 3)]
    _fields_ += [
        (name, ctypes.c_ulong) for name in ("total", "free", "shared", "buffers", "swap", "swapfree")
    ]
    _fields_ += [("procs", ctypes.c_ushort), ("pad", ctypes.c_ubyte * 64)]


def show(symbol):
    while held:
        held.pop().close()
    for _ in range(symbol):
        held.append(mmap.mmap(-1, STEP))
        held[-1][::4096] = b"1" * (STEP // 4096)


def look():
    info = Info()
    if libc.sysinfo(ctypes.byref(info)):
        raise OSError(ctypes.get_errno())
    return info.shared
