"""The system calls learner code may make, as a seccomp program for each profile, compiled by the system's libseccomp.

What is not named here fails with ENOSYS, as on an older kernel, so that a call invented tomorrow is not allowed by
having been unknown today. Starting a process fails in a lab with EOPNOTSUPP, which nothing else in there gives.

`rank`: no sockets but those it was given, no processes, and none of the calls by which two ranks could signal to each
other through a file both can read (record locks, leases, change notices, futexes others can wake, which pages are in
memory), through a figure of the whole machine, or through what one user may have of signals, threads and descriptors on
their way. No memory that no limit on a process counts.
`equality`: the same with network sockets, for one case on a real backend. `kernel`: sockets of the machine's own only,
processes allowed.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import errno
import functools
import os
from typing import Any, Literal

from autograder.sandbox.unavailable import SandboxUnavailable

Profile = Literal["rank", "equality", "kernel"]
PROFILES: tuple[Profile, ...] = ("rank", "equality", "kernel")

_FILES = """read write readv writev pread64 pwrite64 preadv pwritev open openat openat2 close
close_range creat stat lstat fstat newfstatat fstatat64 statx access faccessat faccessat2 lseek _llseek getdents
getdents64 readlink readlinkat getcwd chdir fchdir mkdir mkdirat rmdir unlink unlinkat rename renameat renameat2 link
linkat symlink symlinkat truncate ftruncate fallocate fsync fdatasync chmod fchmod fchmodat fchmodat2 umask utime utimes
utimensat copy_file_range sendfile splice statfs fstatfs readahead getxattr lgetxattr fgetxattr listxattr
llistxattr flistxattr ioctl dup dup2 dup3 pipe pipe2"""
_MEMORY = "brk munmap mremap mprotect msync mlock munlock membarrier"
_THREADS = """set_robust_list get_robust_list rseq set_tid_address gettid exit exit_group sched_yield
sched_getaffinity sched_setaffinity sched_getparam sched_getscheduler sched_get_priority_max sched_get_priority_min
getcpu arch_prctl prctl wait4 waitid"""
_SIGNALS = """rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend rt_sigtimedwait sigaltstack pause
signalfd signalfd4 restart_syscall"""
_TIME = """clock_gettime clock_getres clock_nanosleep nanosleep gettimeofday time times getitimer setitimer alarm
timerfd_create timerfd_settime timerfd_gettime"""
_SELF = """getpid getppid getuid geteuid getgid getegid getgroups getresuid getresgid getpgrp getpgid getsid setsid
setpgid capget uname getrusage getrlimit getrandom getpriority setpriority"""
_WAITING = """poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
eventfd eventfd2"""
_GIVEN_SOCKETS = """sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg shutdown getsockopt setsockopt getsockname
getpeername"""
_ALWAYS = f"{_FILES} {_MEMORY} {_THREADS} {_SIGNALS} {_TIME} {_SELF} {_WAITING} {_GIVEN_SOCKETS}"

_SOCKETS = "bind connect listen accept accept4"
_PROCESSES = "fork vfork execve execveat"
_SCHEDULING = (
    "sched_setscheduler sched_setparam"  # libzmq ends the process where it may not; more it cannot ask for
)
_SHARED = """flock shmget shmat shmctl shmdt semget semop semctl chown fchown lchown fchownat mknod tee fcntl futex
fadvise64 preadv2 pwritev2 mmap madvise kill tkill tgkill rt_sigqueueinfo rt_tgsigqueueinfo timer_create timer_settime
timer_gettime timer_getoverrun timer_delete sysinfo setrlimit prlimit64 socketpair"""

_UNIX, _INET, _INET6, _NETLINK = 1, 2, 10, 16
_FAMILIES: dict[Profile, tuple[int, ...]] = {
    "rank": (),
    "equality": (_UNIX, _INET, _INET6, _NETLINK),
    "kernel": (_UNIX,),
}
_CLONE_THREAD = 0x00010000
_CLONE_NEW = 0x7E020080  # every namespace there is
_FCNTL_OWN = (0, 1, 2, 3, 4, 1030)  # duplicate, flags: what concerns only one's own descriptor
_FUTEX_PRIVATE, _FUTEX_CLOCK = 128, 256
_FUTEX_WAITS, _FUTEX_WAKE = (0, 9), 1  # FUTEX_WAIT, FUTEX_WAIT_BITSET; FUTEX_WAKE
_REAL_TIME_SIGNALS = 34  # from here on a signal waits as often as it is sent, and counts against its user
_DROP_PAGES = 4  # POSIX_FADV_DONTNEED
_PAGE_OUT = (20, 21)  # MADV_COLD, MADV_PAGEOUT
_MAP_SHARED, _MAP_ANONYMOUS = 0x01, 0x20
_LIMITS_OF_USER = (6, 11)  # NPROC, SIGPENDING: a lower one tells how much all of the user's have

_ALLOW = 0x7FFF0000
_NOT_EQUAL, _LESS, _EQUAL, _MORE, _MASKED_EQUAL = 1, 2, 4, 6, 7


def _error(number: int) -> int:
    return 0x00050000 | number


class _Compare(ctypes.Structure):
    """struct scmp_arg_cmp."""

    _fields_ = (("arg", ctypes.c_uint), ("op", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64))


@functools.cache
def program(profile: Profile) -> bytes:
    """The BPF program of `profile` for this machine. Raises SandboxUnavailable where libseccomp is not installed."""
    library = _library()
    made = _Filter(library)
    try:
        for call in _ALWAYS.split():
            made.allow(call)
        if profile == "rank":
            _alone(made)
        else:
            for call in f"{_SHARED} {_SOCKETS}".split():
                made.allow(call)
        if profile == "kernel":
            for call in f"{_PROCESSES} {_SCHEDULING}".split():
                made.allow(call)
            made.allow("clone", (0, _MASKED_EQUAL, _CLONE_NEW, 0))
        else:
            _no_processes(made)
        for family in _FAMILIES[profile]:
            made.allow("socket", (0, _EQUAL, family, 0))
        return made.export()
    finally:
        made.close()


def _no_processes(made: _Filter) -> None:
    made.allow("clone", (0, _MASKED_EQUAL, _CLONE_NEW | _CLONE_THREAD, _CLONE_THREAD))
    made.refuse("clone", errno.EOPNOTSUPP, (0, _MASKED_EQUAL, _CLONE_THREAD, 0))
    for call in _PROCESSES.split():
        made.refuse(call, errno.EOPNOTSUPP)


def _alone(made: _Filter) -> None:
    """Of the calls that can tell another process something, what concerns only the caller."""
    for what in _FCNTL_OWN:
        made.allow("fcntl", (1, _EQUAL, what, 0))
    _futexes(made)
    for call in ("preadv2", "pwritev2"):
        made.allow(call, (5, _EQUAL, 0, 0))  # no flags: one of them asks whether a page is in memory
    made.allow("fadvise64", (3, _NOT_EQUAL, _DROP_PAGES, 0))
    made.refuse("fadvise64", 0, (3, _EQUAL, _DROP_PAGES, 0))  # advice: not taken, and no error
    made.allow("madvise", (2, _LESS, min(_PAGE_OUT), 0))
    made.allow("madvise", (2, _MORE, max(_PAGE_OUT), 0))
    made.allow("mmap", (3, _MASKED_EQUAL, _MAP_ANONYMOUS, 0))
    made.allow("mmap", (3, _MASKED_EQUAL, _MAP_ANONYMOUS | _MAP_SHARED, _MAP_ANONYMOUS))
    # Shared memory without a file: what keeps a process to its memory (RLIMIT_DATA) does not count it.
    both = _MAP_ANONYMOUS | _MAP_SHARED
    made.refuse("mmap", errno.ENOMEM, (3, _MASKED_EQUAL, both, both))
    for call, place in (("kill", 1), ("tkill", 1), ("tgkill", 2)):
        made.allow(call, (place, _LESS, _REAL_TIME_SIGNALS, 0))
    for limit in range(16):
        if limit not in _LIMITS_OF_USER:
            made.allow("setrlimit", (0, _EQUAL, limit, 0))
            made.allow("prlimit64", (1, _EQUAL, limit, 0))
        else:
            made.allow("prlimit64", (1, _EQUAL, limit, 0), (2, _EQUAL, 0, 0))  # asks, sets nothing


def _futexes(made: _Filter) -> None:
    """Those of this process only. Threads are joined, and C++ waits for what another thread is making, by futexes that
    others could reach: such a wait returns at once, as it may at any time, and its caller looks again.
    """
    made.allow("futex", (1, _MASKED_EQUAL, _FUTEX_PRIVATE, _FUTEX_PRIVATE))
    for what in _FUTEX_WAITS:
        made.refuse("futex", errno.EAGAIN, (1, _MASKED_EQUAL, ~_FUTEX_CLOCK & 0xFFFFFFFF, what))
    made.refuse("futex", 0, (1, _MASKED_EQUAL, ~_FUTEX_CLOCK & 0xFFFFFFFF, _FUTEX_WAKE))


class _Filter:
    """One libseccomp context."""

    def __init__(self, library: Any) -> None:
        self._library = library
        self._context = library.seccomp_init(_error(errno.ENOSYS))
        if not self._context:
            raise SandboxUnavailable("libseccomp cannot make a filter on this machine")

    def allow(self, call: str, *compare: tuple[int, int, int, int]) -> None:
        self._rule(_ALLOW, call, compare)

    def refuse(self, call: str, number: int, *compare: tuple[int, int, int, int]) -> None:
        self._rule(_error(number), call, compare)

    def export(self) -> bytes:
        """The program, as the kernel takes it."""
        handle = os.memfd_create("seccomp")
        with os.fdopen(handle, "w+b") as file:
            self._done(self._library.seccomp_export_bpf(self._context, handle), "export")
            file.seek(0)
            return file.read()

    def close(self) -> None:
        self._library.seccomp_release(self._context)

    def _rule(self, action: int, call: str, compare: tuple[tuple[int, int, int, int], ...]) -> None:
        number = self._library.seccomp_syscall_resolve_name(call.encode())
        if number < 0:
            return  # this architecture has no such call
        tests = (_Compare * len(compare))(*(_Compare(*one) for one in compare))
        done = self._library.seccomp_rule_add_array(self._context, action, number, len(compare), tests)
        self._done(done, call)

    def _done(self, done: int, what: str) -> None:
        if done < 0:
            raise SandboxUnavailable(f"libseccomp will not make the filter ({what}): {os.strerror(-done)}")


@functools.cache
def _library() -> Any:
    name = ctypes.util.find_library("seccomp")
    if name is None:
        raise SandboxUnavailable(
            "no libseccomp on this machine: install it (Debian, Ubuntu: `apt-get install libseccomp2`), or grade only "
            "your own hand-ins with --no-sandbox"
        )
    library = ctypes.CDLL(name)
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = [ctypes.c_uint32]
    library.seccomp_release.argtypes = [ctypes.c_void_p]
    library.seccomp_export_bpf.argtypes = [ctypes.c_void_p, ctypes.c_int]
    library.seccomp_rule_add_array.argtypes = [
        ctypes.c_void_p,
        ctypes.c_uint32,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.c_void_p,
    ]
    return library
