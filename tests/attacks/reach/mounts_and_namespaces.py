# expect: ring_all_gather=passed
# Other namespaces, other roots, other mounts: by the old system calls and by the new ones.
import os

CLONE = {"user": 0x10000000, "mount": 0x20000, "net": 0x40000000, "pid": 0x20000000, "ipc": 0x8000000}
CLONE |= {"uts": 0x4000000, "cgroup": 0x2000000, "time": 0x80}


def text(value):
    import ctypes

    return ctypes.c_char_p(value)


def entered(name):
    handle = os.open(f"/proc/1/ns/{name}", os.O_RDONLY)
    try:
        system(308, handle, 0)
    finally:
        os.close(handle)


def cloned(flags):
    """A child in new namespaces, by the system call; the child ends at once."""
    pid = system(56, flags | 17, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def cloned_by_table(flags):
    import ctypes

    table = (ctypes.c_uint64 * 11)(flags, 0, 0, 0, 17)
    pid = system(435, ctypes.byref(table), 88)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def worked(kind):
    tries = [
        ("mount tmpfs", lambda: system(165, text(b"x"), text(b"/tmp"), text(b"tmpfs"), 0, None)),
        ("mount proc", lambda: system(165, text(b"x"), text(b"/tmp"), text(b"proc"), 0, None)),
        ("bind", lambda: system(165, text(b"/proc"), text(b"/tmp"), None, 4096, None)),
        ("remount", lambda: system(165, None, text(b"/"), None, 32 | 4096, None)),
        ("umount /proc", lambda: system(166, text(b"/proc"), 2)),
        ("umount /dev", lambda: system(166, text(b"/dev"), 2)),
        ("open_tree", lambda: system(428, -100, text(b"/"), 1)),
        ("fsopen", lambda: system(430, text(b"tmpfs"), 0)),
        ("fspick", lambda: system(433, -100, text(b"/"), 0)),
        (
            "mount_setattr",
            lambda: system(442, -100, text(b"/"), 0, (__import__("ctypes").c_uint64 * 4)(0, 1), 32),
        ),
        ("chroot", lambda: os.chroot("/tmp")),
        ("pivot_root", lambda: system(155, text(b"/tmp"), text(b"/tmp"))),
        ("swap", lambda: system(167, text(b"/tmp/x"), 0)),
    ]
    tries += [
        (f"unshare {name}", lambda flag=flag: system(272, flag))
        for name, flag in CLONE.items()
        if name != "user"
    ]
    tries += [
        (f"setns {name}", lambda name=name: entered(name)) for name in ("net", "mnt", "pid", "user", "ipc")
    ]
    if kind == "notebook":  # a rank makes no process at all, see `daemon_by_clone`
        tries += [
            (f"clone {name}", lambda flag=flag: cloned(flag))
            for name, flag in CLONE.items()
            if name != "time"
        ]
        tries += [(f"clone3 {name}", lambda flag=flag: cloned_by_table(flag)) for name, flag in CLONE.items()]
    tries.append(("unshare user", lambda: system(272, CLONE["user"])))
    return opened(tries)
