"""The few Linux calls that Python does not have, by ctypes. Each raises OSError naming the call that failed."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import struct
from collections.abc import Iterable

NEWNS = 0x00020000
NEWCGROUP = 0x02000000
NEWUTS = 0x04000000
NEWIPC = 0x08000000
NEWPID = 0x20000000
NEWNET = 0x40000000

MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC = 1, 2, 4, 8
MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x20, 0x1000, 0x4000, 0x40000

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_CAPABILITY_VERSION_3 = 0x20080522
_CAPABILITIES = 64  # bits there is room for; the kernel says EINVAL from the first it does not know
_SIOCSIFFLAGS, _IFF_UP, _IFF_RUNNING = 0x8914, 0x1, 0x40

_libc = ctypes.CDLL(None, use_errno=True)


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Program(ctypes.Structure):
    """struct sock_fprog: a BPF program of `count` instructions of 8 bytes."""

    _fields_ = (("count", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def unshare(flags: int) -> None:
    """This process leaves the namespaces in `flags` for new ones; a new pid namespace begins with its next child."""
    _checked(_libc.unshare(ctypes.c_int(flags)), "unshare")


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    """mount(2)."""
    done = _libc.mount(
        source.encode(), target.encode(), kind.encode(), ctypes.c_ulong(flags), options.encode()
    )
    _checked(done, f"mount {kind} on {target}")


def tmpfs(
    target: str, size: int, *, mode: str = "0700", uid: int = 0, gid: int = 0, files: int = 16384
) -> None:
    """A fresh tmpfs of at most `size` bytes and `files` files on `target`."""
    options = f"size={size},nr_inodes={files},mode={mode},uid={uid},gid={gid}"
    mount("tmpfs", target, "tmpfs", MS_NOSUID | MS_NODEV, options)


def remount_read_only(target: str) -> None:
    """Nothing below the mount `target` can be written any more."""
    mount("none", target, "none", MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV)


def loopback_up() -> None:
    """Brings up `lo` in this network namespace."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", _IFF_UP | _IFF_RUNNING))


def become(uid: int, gid: int) -> None:
    """This process is user `uid` from now on, in no other group. Needs CAP_SETUID and CAP_SETGID."""
    os.setgroups([])
    os.setresgid(gid, gid, gid)
    os.setresuid(uid, uid, uid)


def drop_bounding_set() -> None:
    """No capability can be had again, whatever is executed. Needs CAP_SETPCAP."""
    for capability in range(_CAPABILITIES):
        if _libc.prctl(_PR_CAPBSET_DROP, ctypes.c_ulong(capability), 0, 0, 0) != 0:
            return  # the first number that this kernel does not know


def drop_capabilities() -> None:
    """This process has no capability any more, and gets none by executing anything."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    header = _Header(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _checked(_libc.capset(ctypes.byref(header), nothing), "capset")


def not_dumpable() -> None:
    """Processes of the same user can neither trace this one nor read its memory."""
    _prctl(_PR_SET_DUMPABLE, 0)


def dumpable() -> None:
    """Undoes `not_dumpable`: this process may look at itself in /proc again."""
    _prctl(_PR_SET_DUMPABLE, 1)


def die_with_parent() -> None:
    """This process is killed when the thread that started it ends."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans() -> None:
    """Orphans among the descendants become children of this process, so that it can find and end them."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def filter_calls(program: bytes) -> None:
    """Puts a seccomp filter (BPF instructions) on this process and all it starts. Needs no_new_privs."""
    held = _Program(len(program) // 8, program)
    done = _libc.prctl(_PR_SET_SECCOMP, ctypes.c_ulong(_SECCOMP_MODE_FILTER), ctypes.byref(held), 0, 0)
    _checked(done, "seccomp")


def close_all_but(keep: Iterable[int]) -> None:
    """Closes every descriptor that is not in `keep`."""
    start = 0
    for fd in sorted(set(keep)):
        if start < fd:  # an empty range from 0 would be read as all there is
            os.closerange(start, fd)
        start = fd + 1
    os.closerange(start, 1 << 20)


def _prctl(what: int, value: int) -> None:
    _checked(_libc.prctl(what, ctypes.c_ulong(value), 0, 0, 0), f"prctl {what}")


def _checked(done: int, call: str) -> None:
    if done != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{call}: {os.strerror(number)}")
