import errno


def refused(found):
    """Raises when anything was not refused."""
    if found:
        raise RuntimeError("open: " + "; ".join(map(str, found))[:1500])


def opened(tries):
    """The names of what worked, of (name, function): a function that raises OSError or its kin was refused."""
    found = []
    for name, act in tries:
        try:
            got = act()
        except (OSError, ValueError, PermissionError, ImportError, AttributeError):
            continue
        if got is not False:
            found.append(f"{name}" if got is None or got is True else f"{name}: {str(got)[:100]}")
    return found


def system(number, *args):
    """One system call; its result. Raises OSError."""
    import ctypes

    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    result = call(ctypes.c_long(number), *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), errno.errorcode.get(ctypes.get_errno(), "?"))
    return result
