"""The host's side of the two layers: one bubblewrap box around a warm zygote, and a session in it for each hand-in.

`warm(kind)` gives this process's zygote of a kind, starting it, or a new one where the last has died.
"""

from __future__ import annotations

import atexit
import base64
import contextlib
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from autograder.sandbox import cgroup, seccomp, slot
from autograder.sandbox.bwrap import Box
from autograder.sandbox.unavailable import BoxFailed

Kind = Literal["ranks", "kernel"]

START_SECONDS = 120.0
HELLO_SECONDS = 30.0
STOP_SECONDS = 10.0
MESSAGE = 1 << 16
_PACKAGE_PARENT = Path(__file__).resolve().parents[2]
_CREDENTIALS = struct.Struct("3i")
_ENVIRONMENT = {
    # malloc gives big blocks back at once, so that a memory limit measures what is alive
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "GLOO_SOCKET_IFNAME": "lo",
    "USER": "learner",
    "LOGNAME": "learner",
    "MPLBACKEND": "agg",
    "MPLCONFIGDIR": "/tmp/.matplotlib",
    "IPYTHONDIR": "/tmp/.ipython",
    "JUPYTER_PLATFORM_DIRS": "1",
}


class Zygote:
    """A box with a zygote in it. `start` may be called from any thread, `open` from several at once."""

    def __init__(self, kind: Kind, *, sandboxed: bool, devices: Sequence[Path] = ()) -> None:
        """`devices` are what of /dev is seen in the box beside the usual."""
        self._kind, self._sandboxed, self._devices = kind, sandboxed, tuple(devices)
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._inner = -1  # pidfd of the first process in the box
        self._closing = threading.Event()
        self._home = contextlib.ExitStack()
        self._lock = threading.Lock()

    def start(self) -> None:
        """Starts the box and waits until its zygote is warm. Raises BoxFailed, SandboxUnavailable."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control = ours
        settings = self._settings()
        launched: list[OSError] = []
        done = threading.Event()

        def keep() -> None:
            # bubblewrap dies with the thread that started it: this one lives as long as the box shall
            try:
                self._launch(theirs)
            except OSError as error:
                launched.append(error)
            done.set()
            self._closing.wait()

        threading.Thread(target=keep, name="box", daemon=True).start()
        done.wait()
        theirs.close()
        if launched:
            self.close()
            raise BoxFailed(f"the box did not start: {launched[0]}")
        try:
            ours.send(json.dumps(settings).encode())
            message = receive(ours, time.monotonic() + START_SECONDS)
        except OSError:
            message = None
        if message is None or message.get("op") != "ready":
            said = self.said()
            self.close()
            raise BoxFailed(f"the box did not start{said}")

    def open(self, memory_bytes: int, processes: int) -> Session:
        """A session for one hand-in, whose processes together have at most so much memory and so many processes and
        threads, where control groups are to be had. Raises BoxFailed.
        """
        if self._control is None:
            raise BoxFailed("the box is closed")
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            try:
                with self._lock:
                    socket.send_fds(self._control, [b'{"op": "open"}'], [theirs.fileno()])
            except OSError as error:
                ours.close()
                raise BoxFailed(f"the box has gone: {error}{self.said()}") from error
        group = cgroup.find().make(memory_bytes, processes) if self._sandboxed else None
        return Session(self, ours, group)

    def alive(self) -> bool:
        return self._control is not None and self._process is not None and self._process.poll() is None

    def said(self) -> str:
        """What bubblewrap or the zygote wrote before it ended, for the reason."""
        process = self._process
        if process is None or process.stderr is None:
            return ""
        os.set_blocking(process.stderr.fileno(), False)
        text = (process.stderr.read(MESSAGE) or b"").decode("utf-8", "replace").strip()
        return f": {text[-2000:]}" if text else ""

    def close(self) -> None:
        """Ends every process of the box and waits until none is left. Raises BoxFailed if something stays."""
        process, self._process = self._process, None
        if self._control is not None:
            self._control.close()
            self._control = None
        gone = True
        if process is not None:
            gone = self._end(process)
        self._closing.set()
        self._home.close()
        if not gone:
            raise BoxFailed("processes of a box would not end")

    def _end(self, process: subprocess.Popen[bytes]) -> bool:
        if self._inner >= 0:
            # the box's first process takes all others with it; bubblewrap outside buries it, and ends
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._inner, signal.SIGKILL)
        # without a box the zygote has to end its own: it does when its control socket closes
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
        if self._inner < 0:
            return True
        # the box's first process is gone only when every process of its pid namespace is
        gone = bool(select.select([self._inner], [], [], STOP_SECONDS)[0])
        os.close(self._inner)
        self._inner = -1
        return gone

    def _settings(self) -> dict[str, Any]:
        filters = {}
        if self._sandboxed:
            filters = {name: base64.b64encode(seccomp.program(name)).decode() for name in seccomp.PROFILES}
        uids = slot.uids() if self._sandboxed else None
        return {"kind": self._kind, "boxed": self._sandboxed, "filters": filters, "uids": uids}

    def _launch(self, theirs: socket.socket) -> None:
        info, info_theirs = os.pipe()
        argv = [sys.executable, "-s", "-P", "-m", "autograder.learner.box.zygote", str(theirs.fileno())]
        plain = not self._sandboxed
        try:
            self._process = subprocess.Popen(
                argv if plain else self._box().command(argv, info_fd=info_theirs),
                env=_plain_environment() if plain else {},
                cwd=self._home.enter_context(tempfile.TemporaryDirectory()) if plain else None,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno(), info_theirs],
                start_new_session=True,
            )
        finally:
            os.close(info_theirs)
            with os.fdopen(info, "rb") as file:
                said = file.read() if self._sandboxed and self._process else b""
        if said:
            # Opened while bubblewrap still waits for this child, so the number cannot be another process's by now.
            with contextlib.suppress(ProcessLookupError):  # it ended at once: bubblewrap has said why
                self._inner = os.pidfd_open(int(json.loads(said)["child-pid"]))

    def _box(self) -> Box:
        return Box(folders=("/lab", "/learner", "/kernel"), devices=self._devices, environment=_ENVIRONMENT)


class Session:
    """One hand-in's supervisor in a zygote's box. A context manager: leaving it ends all the hand-in started."""

    def __init__(self, zygote: Zygote, control: socket.socket, group: cgroup.Group | None) -> None:
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


_warm: dict[tuple[Kind, bool], Zygote] = {}
_starting = threading.Lock()


def warm(kind: Kind, *, sandboxed: bool) -> Zygote:
    """This process's zygote of a kind: the one there is, or a new one. Raises BoxFailed, SandboxUnavailable."""
    with _starting:
        found = _warm.get((kind, sandboxed))
        if found is not None and found.alive():
            return found
        if found is not None:
            found.close()
        made = Zygote(kind, sandboxed=sandboxed)
        made.start()
        _warm[kind, sandboxed] = made
        return made


@atexit.register
def close() -> None:
    """Ends all zygotes of this process."""
    with _starting:
        for made in list(_warm.values()):
            made.close()
        _warm.clear()


@contextlib.contextmanager
def session(kind: Kind, *, sandboxed: bool, memory_bytes: int, processes: int) -> Iterator[Session]:
    """A session in this process's warm zygote; one that has died meanwhile is replaced once. Raises BoxFailed."""
    used = warm(kind, sandboxed=sandboxed)
    try:
        made = used.open(memory_bytes, processes)
    except BoxFailed:
        used.close()
        made = warm(kind, sandboxed=sandboxed).open(memory_bytes, processes)
    with made:
        yield made


def _plain_environment() -> dict[str, str]:
    kept = {n: os.environ[n] for n in ("PATH", "HOME", "LANG", "OPENBLAS_CORETYPE") if n in os.environ}
    return {
        **kept,
        "PYTHONPATH": str(_PACKAGE_PARENT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "MALLOC_MMAP_THRESHOLD_": "65536",
        "MPLBACKEND": "agg",
    }
