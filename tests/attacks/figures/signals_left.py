# expect: ring_all_gather=failed:the_figure_stands_still
# How many signals one's user may still have waiting, where all ranks are one user: timers take one each, and a lower
# limit of one's own finds the number.
import resource

STEP = -6
held = []


def timer():
    made = ctypes.c_int()
    if libc.timer_create(0, None, ctypes.byref(made)):
        raise OSError(ctypes.get_errno(), "no timer")
    return made.value


def show(symbol):
    while held:
        libc.timer_delete(held.pop())
    held.extend(timer() for _ in range(-STEP * symbol))


def may_make(most):
    resource.setrlimit(resource.RLIMIT_SIGPENDING, (most, resource.getrlimit(resource.RLIMIT_SIGPENDING)[1]))
    try:
        libc.timer_delete(timer())
        return True
    except OSError:
        return False


def look():
    low, high = 0, 4096
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if may_make(middle) else (middle, high)
    if not may_make(4096):
        raise OSError("no timers")
    return -high
