"""The namespaces of one hand-in's processes: what they see, who they are, and how they are started in them.

A supervisor (our code only) calls `launch`. It forks a first process into new namespaces, which lays out the mounts,
gives up every privilege and forks the learner's processes; when those have ended it ends too, and the kernel ends
whatever they left behind. Those processes thus have a pid namespace with an ordinary first process in it: they may be
killed by any signal, and cannot kill it.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.learner.box import linux

MiB = 1 << 20
_ALL = linux.NEWNS | linux.NEWIPC | linux.NEWNET | linux.NEWUTS | linux.NEWPID | linux.NEWCGROUP
_NO_EXECUTION = linux.MS_NOSUID | linux.MS_NODEV | linux.MS_NOEXEC


@dataclass(frozen=True)
class Space:
    """What one set of processes sees. `tmpfs`: path to size in bytes, fresh, small and writable; `uid`: whom they run
    as (None: as before); `loopback`: whether their network has one; `filter`: the seccomp program (b"": none);
    `whole_proc`: whether /proc shows more than their own processes; `alone`: nothing is there by which they could tell
    others of theirs anything, and no memory that no limit counts; `terminals`: whether there may be any.
    """

    tmpfs: Mapping[str, int] = field(default_factory=lambda: {"/tmp": 64 * MiB, "/dev/shm": 64 * MiB})
    uid: int | None = None
    loopback: bool = False
    filter: bytes = b""
    whole_proc: bool = False
    alone: bool = False
    terminals: bool = False

    def enter(self) -> None:
        """Lays out the mounts of this process's new namespaces and gives up every privilege."""
        linux.mount("none", "/", "none", linux.MS_REC | linux.MS_PRIVATE)
        owner = self.uid if self.uid is not None else os.getuid()
        group = self.uid if self.uid is not None else os.getgid()
        for target, size in self.tmpfs.items():
            linux.tmpfs(target, size, uid=owner, gid=group)
        if Path("/dev/pts").is_dir():
            self._mount_terminals(owner, group)
        if self.loopback:
            linux.loopback_up()
        if self.alone:
            # Even of its own pages a process would read there whether others have mapped the same files.
            _empty("/proc", owner, group)
            # A shared mapping of it is shared memory without a name, and counts for no limit on a process.
            linux.mount("/dev/null", "/dev/zero", "none", linux.MS_BIND)
        else:
            self._mount_proc(owner, group)
        linux.drop_bounding_set()
        if self.uid is not None:
            linux.become(self.uid, self.uid)
        linux.drop_capabilities()
        linux.not_dumpable()

    def _mount_terminals(self, owner: int, group: int) -> None:
        """None, or those of these processes alone: a terminal opened by one rank would be seen by the others."""
        if self.terminals:
            flags = linux.MS_NOSUID | linux.MS_NOEXEC
            linux.mount("devpts", "/dev/pts", "devpts", flags, "newinstance,ptmxmode=0666,mode=0620")
        else:
            _empty("/dev/pts", owner, group)

    def _mount_proc(self, owner: int, group: int) -> None:
        """A /proc of this pid namespace. Where the kernel refuses one, because what was mounted over parts of the
        machine's own would be seen in it, /proc is empty: other processes must not be seen.
        """
        for options in ("", "subset=pid") if self.whole_proc else ("subset=pid", ""):
            try:
                linux.mount("proc", "/proc", "proc", _NO_EXECUTION, options)
                return
            except OSError:
                continue
        _empty("/proc", owner, group)


def _empty(folder: str, owner: int, group: int) -> None:
    linux.tmpfs(folder, 4096, mode="0555", uid=owner, gid=group)
    linux.remount_read_only(folder)


@dataclass(frozen=True)
class Body:
    """One of the learner's processes: `name` in what is told about it, `keep` the descriptors it gets beside 0, 1, 2,
    and what it does. It ends when `run` returns.
    """

    name: int
    keep: tuple[int, ...]
    run: Callable[[], None]


def launch(space: Space, bodies: Sequence[Body], tell: socket.socket) -> None:
    """Starts `bodies` together in new namespaces. On `tell` (a SOCK_SEQPACKET socket) comes {"op": "exit", "name": n,
    "status": s} for each that ends (s negative: the signal), or {"op": "broken", "why": …} when they cannot be started.
    """
    if os.fork() != 0:
        return
    try:
        _own_signals()
        linux.unshare(_ALL)
        if os.fork() == 0:
            _first(space, bodies, tell)
    except OSError as error:
        say(tell, {"op": "broken", "why": str(error)})
    finally:
        os._exit(0)


def _first(space: Space, bodies: Sequence[Body], tell: socket.socket) -> None:
    """The first process of the new pid namespace."""
    try:
        space.enter()
        names = {start(body, space.filter): body.name for body in bodies}
    except OSError:
        say(tell, {"op": "broken", "why": traceback.format_exc(limit=-3)})
        os._exit(1)
    # Whoever waits for the end of a learner's process by its socket must not find our copy of it open.
    linux.close_all_but([tell.fileno()])
    while names:
        pid, status = os.waitpid(-1, 0)
        if pid in names:
            say(tell, {"op": "exit", "name": names.pop(pid), "status": os.waitstatus_to_exitcode(status)})
    os._exit(0)


def start(body: Body, filter_program: bytes = b"") -> int:
    """Forks one of the learner's processes; returns its id. It never returns from here itself."""
    pid = os.fork()
    if pid != 0:
        return pid
    try:
        _own_signals()
        linux.close_all_but([0, 1, 2, *body.keep])
        os.setsid()
        linux.dumpable()
        if filter_program:
            linux.filter_calls(filter_program)
    except OSError:
        traceback.print_exc()
        os._exit(1)
    try:
        body.run()
    finally:
        os._exit(0)


def _own_signals() -> None:
    """What the supervisor set up for its own children is not for theirs."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


def say(to: socket.socket, message: dict[str, Any]) -> None:
    """Sends one message of the supervisor's side."""
    to.send(json.dumps(message).encode())
