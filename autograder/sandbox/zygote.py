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
from autograder.sandbox.session import MESSAGE, Session, receive
from autograder.sandbox.unavailable import BoxFailed

Kind = Literal["ranks", "kernel"]

START_SECONDS = 120.0
STOP_SECONDS = 10.0
_PACKAGE_PARENT = Path(__file__).resolve().parents[2]
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
