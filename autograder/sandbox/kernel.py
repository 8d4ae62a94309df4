"""A Jupyter kernel in a box: a session in the warm zygote's, one kernel a session.

Nothing a kernel says decides anything but what a learner printed; scores come from the judge's own socket
(`BoxedKernel.judge`). Its channels are connected inside, before learner code runs, and handed out as descriptors, so
that no path of the box is ever opened from outside.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import select
import socket
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.sandbox import zygote
from autograder.sandbox.bwrap import MiB
from autograder.sandbox.channels import Channels, Hear
from autograder.sandbox.session import MESSAGE, Session, receive
from autograder.sandbox.unavailable import BoxFailed

START_SECONDS = 60.0
INTERRUPT_SECONDS = 2.0
EXIT_SECONDS = 5.0
PROCESSES = 256  # processes and threads a kernel may have
DISK_MIB = 64  # of the working folder, and of /tmp
ROOM = 256 * MiB  # beyond the memory of one process: what small helpers and files in memory take
_USERS, _FIRST_USER = 256, 256  # of those of this process: two kernels at once are two users
_TMPFS = {"/tmp": DISK_MIB * MiB, "/dev/shm": 16 * MiB, "/kernel": MiB, "/learner": DISK_MIB * MiB}
_CHANNELS = ("shell", "control", "iopub")
_users = itertools.count()


class KernelStartError(RuntimeError):
    """The kernel did not come up, or its box ended under it: our fault or the machine's, never the learner's."""


@dataclass(frozen=True)
class Ended:
    """How one cell ended. `how`: "ok", "error" (then `name` and `text` of the exception), "timeout" (interrupted,
    the kernel lives), "dead" (the kernel is gone: it ended, or had to be `killed` after a timeout, or the machine ended
    it because it was `short` of memory).
    """

    how: str
    name: str = ""
    text: str = ""
    killed: bool = False
    short: bool = False


class BoxedKernel:
    """One kernel in one box. A context manager: everything in the box is gone when it ends.

    `files` is a folder whose content is copied into the kernel's working folder. `judge` is our end of the socket
    whose other end the kernel finds under SHARDLAB_JUDGE_FD. Raises KernelStartError, SandboxUnavailable.
    """

    def __init__(self, files: Path | None, *, memory_mib: int, sandboxed: bool) -> None:
        self._files = files
        self._memory = memory_mib * MiB
        self._sandboxed = sandboxed
        self._stack = contextlib.ExitStack()
        self._session: Session | None = None
        self._exited = False
        self._channels: Channels
        self.judge: socket.socket

    def __enter__(self) -> BoxedKernel:
        try:
            self._start()
        except (BoxFailed, OSError) as error:
            self.close()
            raise KernelStartError(f"the kernel did not come up: {error}") from error
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, code: str, *, seconds: float, hear: Hear) -> Ended:
        """Runs one cell for at most `seconds`. Raises KernelStartError when the box ends meanwhile."""
        request = self._channels.send("shell", "execute_request", _execute(code))
        end = time.monotonic() + seconds
        reply = self._channels.wait(request, end, hear)
        interrupted = False
        if reply is None and self._reachable():
            interrupted = True
            self._channels.send("control", "interrupt_request", {})
            reply = self._channels.wait(request, time.monotonic() + INTERRUPT_SECONDS, hear)
        if reply is None:
            return self._given_up()
        self._channels.drain(request, hear)
        if _asked_exit(reply):  # `exit` in a cell: the kernel goes as soon as it has answered
            self._end()
            return Ended("dead")
        if interrupted:
            return Ended("timeout")
        if reply.get("status") == "ok":
            return Ended("ok")
        return Ended("error", _text(reply.get("ename"), 200), _text(reply.get("evalue"), 2000))

    def alive(self) -> bool:
        """Whether the kernel's process runs; not whether it answers. Raises KernelStartError when what watches over it
        has ended, which no learner code can reach.
        """
        if self._session is None or self._exited:
            return False
        control = self._session.control
        if not select.select([control], [], [], 0)[0]:
            return True
        message = receive(control, time.monotonic() + 1) or {"why": "its box has gone"}
        if message.get("op") != "exit" and not self._session.out_of_memory():
            raise KernelStartError(f"the kernel ended, and not by its own doing: {message.get('why')}")
        self._exited = True
        return False

    def _reachable(self) -> bool:
        """Whether an answer may still come: a kernel that has closed its sockets can live on, and is none any more."""
        return self.alive() and not self._channels.hung_up()

    def _given_up(self) -> Ended:
        """Ends a kernel that does not answer."""
        assert self._session is not None
        killed = self._reachable()
        if not killed:
            # its sockets close a moment before we are told how it ended
            select.select([self._session.control], [], [], EXIT_SECONDS)
            self.alive()
        short = self._session.out_of_memory()
        self._end()
        return Ended("dead", killed=killed, short=short)

    def close(self) -> None:
        """Ends every process of the box, waits until none is left, and removes what was made for it."""
        self._end()
        if hasattr(self, "_channels"):
            self._channels.close()
            del self._channels
        if hasattr(self, "judge"):
            self.judge.close()

    def _end(self) -> None:
        self._session = None
        self._stack.close()

    # -- starting ------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        home = Path("/")
        if not self._sandboxed:
            home = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="shardlab-")))
        session = self._session = self._stack.enter_context(
            zygote.session(
                "kernel", sandboxed=self._sandboxed, memory_bytes=self._memory + ROOM, processes=PROCESSES
            )
        )
        end = time.monotonic() + START_SECONDS  # warming up the zygote has a time of its own
        key = uuid.uuid4().hex  # signs messages as Jupyter wants it; learner code can read it
        self.judge, judge = socket.socketpair()
        up, told = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with up:
            with judge, told, contextlib.ExitStack() as opened:
                fds = [judge.fileno(), told.fileno()]
                if self._files is not None:
                    fds.append(os.open(self._files, os.O_RDONLY | os.O_DIRECTORY))
                    opened.callback(os.close, fds[-1])
                session.send(self._job(home, key), fds)
            self._channels = Channels(_connected(session, up, end), self.alive, key)
        self._await_ready(end)

    def _job(self, home: Path, key: str) -> dict[str, Any]:
        folders = {"home": home / "learner", "folder": home / "kernel"}
        environment = {}
        if not self._sandboxed:
            # for one's own hand-ins: a private working folder, no promise about anything else
            for folder in folders.values():
                folder.mkdir()
            environment = {"HOME": str(home), "TMPDIR": str(home)}
            environment |= {"MPLCONFIGDIR": str(home / "mpl"), "IPYTHONDIR": str(home / "ipython")}
        return {
            "op": "kernel",
            **{name: str(folder) for name, folder in folders.items()},
            "key": key,
            "memory": self._memory,
            "processes": PROCESSES if self._sandboxed else None,
            "user": _FIRST_USER + next(_users) % _USERS,
            "tmpfs": _TMPFS,
            "environment": environment,
        }

    def _await_ready(self, end: float) -> None:
        """Until a request is answered and its echo comes by iopub: subscribing takes a moment of its own."""
        heard: list[str] = []
        while not heard:
            self._still_starting(end)
            request = self._channels.send("shell", "kernel_info_request", {})
            reply = self._channels.wait(request, end, lambda kind, _: heard.append(kind))
            stop = time.monotonic() + 0.2
            while reply is not None and not heard and time.monotonic() < stop:
                self._channels.take_output(request, lambda kind, _: heard.append(kind), 0.05)
        self._channels.drain(request, lambda *_: None)

    def _still_starting(self, end: float) -> None:
        if not self.alive():
            raise KernelStartError("the kernel ended before it was up")
        if time.monotonic() > end:
            raise KernelStartError(f"the kernel was not up after {START_SECONDS:g} s")


def _connected(session: Session, up: socket.socket, end: float) -> dict[str, socket.socket]:
    """Our ends of the kernel's channels, as soon as it hands them out. Raises KernelStartError."""
    ready = select.select([up, session.control], [], [], max(0.0, end - time.monotonic()))[0]
    if up in ready:
        text, fds, _, _ = socket.recv_fds(up, MESSAGE, len(_CHANNELS))
        if len(fds) == len(_CHANNELS):
            return {name: socket.socket(fileno=fd) for name, fd in zip(_CHANNELS, fds, strict=True)}
        if text:
            raise KernelStartError(f"the kernel did not come up: {json.loads(text).get('why')}")
    if not ready:
        raise KernelStartError(f"the kernel was not up after {START_SECONDS:g} s")
    message = receive(session.control, min(end, time.monotonic() + 5)) or {"why": "no word of why"}
    raise KernelStartError(f"the kernel ended before it was up: {message.get('why', message)}")


def _execute(code: str) -> dict[str, Any]:
    return {
        "code": code,
        "silent": False,
        "store_history": True,
        "user_expressions": {},
        "allow_stdin": False,
        "stop_on_error": False,
    }


def _text(said: Any, most: int) -> str:
    """Text of a kernel, cut, in a form that can be written as UTF-8."""
    return str(said or "")[:most].encode("utf-8", "replace").decode()


def _asked_exit(reply: dict[str, Any]) -> bool:
    payload = reply.get("payload")
    entries = payload if isinstance(payload, list) else []
    return any(
        isinstance(entry, dict) and entry.get("source") == "ask_exit" and not entry.get("keepkernel")
        for entry in entries
    )
