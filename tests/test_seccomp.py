"""The filters of learners' processes, tried in real processes: what is refused, and with which error."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from autograder.sandbox import seccomp
from autograder.sandbox.seccomp import PROFILES, Profile

TRY = """
import ctypes, errno, json, mmap, os, resource, signal, socket, sys, threading
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGRTMAX])
libc = ctypes.CDLL(None, use_errno=True)
from autograder.learner.box import linux
linux.drop_capabilities()
with open(sys.argv[1], "rb") as file:
    linux.filter_calls(file.read())
def said(call):
    try:
        call()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
def raw(number, *words):
    if libc.syscall(ctypes.c_long(number), *words) < 0:
        raise OSError(ctypes.get_errno(), "")
def fork():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
def thread():
    t = threading.Thread(target=lambda: None)
    t.start()
    t.join()
import fcntl, struct
own = open(sys.executable, "rb")
lock = struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 10, 0)
word = ctypes.c_int(0)
print(json.dumps({
    "thread": said(thread),
    "fork": said(fork),
    "exec": said(lambda: os.execv("/nonexistent", ["x"])),
    "inet": said(lambda: socket.socket(socket.AF_INET).close()),
    "unix": said(lambda: socket.socket(socket.AF_UNIX).close()),
    "packet": said(lambda: socket.socket(17, socket.SOCK_RAW).close()),
    "pair": said(lambda: [s.close() for s in socket.socketpair()]),
    "record lock": said(lambda: fcntl.fcntl(own, fcntl.F_SETLK, lock)),
    "who locks": said(lambda: fcntl.fcntl(own, fcntl.F_GETLK, lock)),
    "flock": said(lambda: fcntl.flock(own, fcntl.LOCK_SH)),
    "lease": said(lambda: fcntl.fcntl(own, fcntl.F_SETLEASE, fcntl.F_UNLCK)),
    "flags": said(lambda: fcntl.fcntl(own, fcntl.F_GETFL)),
    "private wake": said(lambda: raw(202, ctypes.byref(word), 1 | 128, 1)),
    "shared wait": said(lambda: raw(202, ctypes.byref(word), 0, 0, ctypes.byref((ctypes.c_long * 2)(0, 1000)))),
    "is it in memory": said(lambda: os.preadv(own.fileno(), [bytearray(1)], 0, os.RWF_NOWAIT)),
    "shared memory": said(lambda: mmap.mmap(-1, 4096).close()),
    "private memory": said(lambda: mmap.mmap(-1, 4096, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS).close()),
    "a mapped file": said(lambda: mmap.mmap(own.fileno(), 4096, mmap.MAP_SHARED, mmap.PROT_READ).close()),
    "drop pages": said(lambda: os.posix_fadvise(own.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)),
    "whole machine": said(lambda: raw(99, ctypes.create_string_buffer(256))),
    "queued signal": said(lambda: os.kill(os.getpid(), signal.SIGRTMAX)),
    "signal": said(lambda: os.kill(os.getpid(), signal.SIGCHLD)),
    "a user's limit": said(lambda: resource.setrlimit(6, resource.getrlimit(6))),
    "a limit": said(lambda: resource.setrlimit(resource.RLIMIT_CPU, resource.getrlimit(resource.RLIMIT_CPU))),
    "memfd": said(lambda: os.close(os.memfd_create("x"))),
    "ptrace": said(lambda: raw(101, 0, 0, 0, 0)),
    "read another's memory": said(lambda: raw(310, os.getpid(), 0, 0, 0, 0, 0)),
    "namespace": said(lambda: linux.unshare(0x10000000)),
    "mount": said(lambda: linux.mount("tmpfs", "/tmp", "tmpfs")),
    "io_uring": said(lambda: raw(425, 1, 0)),
    "watch": said(lambda: raw(294, 0)),
    "key": said(lambda: raw(248, b"user", b"x", b"y", 1, -4)),
    "bpf": said(lambda: raw(321, 0, 0, 0)),
    "page cache": said(lambda: raw(27, 0, 0, 0)),
    "not invented yet": said(lambda: raw(4000)),
}))
"""
NEVER = (
    "packet", "memfd", "ptrace", "read another's memory", "namespace", "mount", "io_uring", "watch", "key", "bpf",
    "page cache", "not invented yet",
)  # fmt: skip
TELLS_OTHERS = (
    "record lock", "who locks", "flock", "lease", "pair", "is it in memory", "whole machine", "queued signal",
    "a user's limit",
)  # fmt: skip

pytestmark = pytest.mark.skipif(
    os.uname().machine != "x86_64", reason="the numbers of calls are those of x86-64"
)


@pytest.fixture(params=PROFILES)
def said(request: pytest.FixtureRequest, tmp_path: Path, root: Path) -> tuple[Profile, dict[str, str]]:
    """What each call brought in a process with the filter of a profile."""
    profile: Profile = request.param
    (tmp_path / "filter").write_bytes(seccomp.program(profile))
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(TRY), str(tmp_path / "filter")],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return profile, json.loads(ran.stdout)


def test_what_each_profile_allows(said: tuple[Profile, dict[str, str]]) -> None:
    profile, tried = said
    assert {name: tried[name] for name in NEVER} == dict.fromkeys(NEVER, "ENOSYS")
    harmless = (
        "thread",
        "flags",
        "private wake",
        "private memory",
        "a mapped file",
        "drop pages",
        "signal",
        "a limit",
    )
    assert {name: tried[name] for name in harmless} == dict.fromkeys(harmless, "done")
    processes = {"kernel": ("done", "ENOENT")}.get(profile, ("ENOTSUP", "ENOTSUP"))
    assert (tried["fork"], tried["exec"]) == processes
    assert tried["unix"] == ("ENOSYS" if profile == "rank" else "done")
    assert tried["inet"] == ("done" if profile == "equality" else "ENOSYS")
    for name in TELLS_OTHERS:
        assert (tried[name] in ("ENOSYS", "ENOTSUP")) == (profile == "rank"), name
    assert tried["shared wait"] == ("EAGAIN" if profile == "rank" else "ETIMEDOUT")
    assert tried["shared memory"] == ("ENOMEM" if profile == "rank" else "done")
