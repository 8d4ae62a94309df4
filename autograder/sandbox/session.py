"""One hand-in in a zygote's box: its supervisor, the control socket to it, and its control group."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import struct
import time
from collections.abc import Sequence
from typing import Any, Protocol

from autograder.sandbox.cgroup import Group
from autograder.sandbox.unavailable import BoxFailed

HELLO_SECONDS = 30.0
STOP_SECONDS = 10.0
MESSAGE = 1 << 16
_CREDENTIALS = struct.Struct("3i")


class Owner(Protocol):
    """The box a session is in."""

    def said(self) -> str: ...

    def close(self) -> None: ...


class Session:
    """One hand-in's supervisor in a zygote's box. A context manager: leaving it ends all the hand-in started."""

    def __init__(self, zygote: Owner, control: socket.socket, group: Group | None) -> None:
        self._zygote, self.control, self._group = zygote, control, group
        self._supervisor = -1
        try:
            self._begin()
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def send(self, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
        """Sends one message with descriptors. Raises OSError when the supervisor has gone."""
        socket.send_fds(self.control, [json.dumps(message).encode()], list(fds))

    def out_of_memory(self) -> bool:
        """Whether the kernel has ended a process of this hand-in for want of memory."""
        return self._group is not None and self._group.out_of_memory() > 0

    def close(self) -> None:
        """Ends every process of the hand-in and waits until none is left. Where that fails the whole box is ended."""
        self.control.close()
        if self._supervisor >= 0:
            gone = bool(select.select([self._supervisor], [], [], STOP_SECONDS)[0])
            if not gone:
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(self._supervisor, signal.SIGKILL)
                gone = bool(select.select([self._supervisor], [], [], STOP_SECONDS)[0])
            os.close(self._supervisor)
            self._supervisor = -1
            if not gone:
                self._zygote.close()
        if self._group is not None:
            self._group.remove()
            self._group = None

    def _begin(self) -> None:
        """Learns who the supervisor is, puts it into its group, and lets it go on."""
        message, pid = _introduced(self.control, time.monotonic() + HELLO_SECONDS)
        if message.get("op") != "hello":
            raise BoxFailed(
                f"the box did not start a hand-in: {message.get('why', 'no word of it')}{self._zygote.said()}"
            )
        try:
            self._supervisor = os.pidfd_open(pid)
            if self._group is not None:
                self._group.take(pid)
            self.send({"op": "go"})
        except OSError as error:
            raise BoxFailed(f"the box did not start a hand-in: {error}") from error


def receive(control: socket.socket, deadline: float) -> dict[str, Any] | None:
    """The next message; None when the other end has ended, says something else, or is late. After the deadline nothing
    is taken any more, however much is said.
    """
    left = deadline - time.monotonic()
    ready = select.select([control], [], [], left)[0] if left > 0 else []
    try:
        message = json.loads(control.recv(MESSAGE) if ready else b"")
    except (ValueError, RecursionError, OSError):
        return None
    return message if isinstance(message, dict) else None


def _introduced(control: socket.socket, deadline: float) -> tuple[dict[str, Any], int]:
    """The first message of a supervisor, and its process id as the kernel knows it here."""
    ready = select.select([control], [], [], max(0.0, deadline - time.monotonic()))[0]
    if not ready:
        return {}, 0
    try:
        data, ancillary, _, _ = control.recvmsg(MESSAGE, socket.CMSG_SPACE(_CREDENTIALS.size))
    except OSError:
        return {}, 0  # the box has gone
    control.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
    pids = [
        _CREDENTIALS.unpack(content)[0]
        for level, kind, content in ancillary
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_CREDENTIALS)
    ]
    return (json.loads(data) if data else {}), (pids[0] if pids else 0)
