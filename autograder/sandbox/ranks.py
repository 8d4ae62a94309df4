"""One box a submission for its ranks: started once, then one case after another, each with fresh sockets.

The ranks of a case are forked inside the box from a process that has imported torch. What they can reach is the switch,
over one inherited socket each, and a pipe for what they print.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from autograder.judge.switch import Outcome, Rules, Switch
from autograder.judge.switch.dtypes import Bytes
from autograder.sandbox.bwrap import Box

START_SECONDS = 120.0
STOP_SECONDS = 10.0
EXIT_SECONDS = 0.5
PRINTED = 16 << 10
_PACKAGE_PARENT = Path(__file__).resolve().parents[2]
_RUN, _LAB = Path("/lab/run.py"), Path("/lab/lab.py")


class BoxFailed(RuntimeError):
    """The box did not start, before any learner code ran: our fault or the machine's."""


@dataclass(frozen=True)
class Greeting:
    """The first frame of a rank: its task, its place, its inputs. See `autograder.learner.lab.rank`."""

    header: dict[str, Any]
    payload: Bytes


@dataclass(frozen=True)
class Ran:
    """One case that ran. `printed[r]` is what rank r wrote on its outputs, cut to `PRINTED` bytes; `exits[r]` its exit
    status as the box tells it (a negative number: the signal), None where the box told none. `box_died` is True when
    the box did not outlive the case."""

    outcome: Outcome
    printed: tuple[str, ...]
    exits: tuple[int | None, ...]
    box_died: bool


class RankBox:
    """A box for the ranks of one submission. A context manager: leaving it ends every process of the box."""

    def __init__(self, run_py: Path, lab_py: Path, *, sandboxed: bool = True) -> None:
        """`run_py` is the lab's, `lab_py` the learner's. `sandboxed=False` runs the same processes without a box."""
        self._run_py, self._lab_py, self._sandboxed = run_py, lab_py, sandboxed
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None
        self._inner = -1
        self._ready = False
        self._home = contextlib.ExitStack()

    def __enter__(self) -> RankBox:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def start(self) -> None:
        """Starts the box without waiting until torch is imported in it; the first case waits."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        info, info_theirs = os.pipe()
        try:
            self._process = subprocess.Popen(
                self._command(theirs.fileno(), info_theirs),
                env={} if self._sandboxed else _plain_environment(),
                cwd=None if self._sandboxed else self._home.enter_context(tempfile.TemporaryDirectory()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno(), info_theirs],
                start_new_session=True,
            )
        except OSError:
            ours.close()
            os.close(info)
            raise
        finally:
            theirs.close()
            os.close(info_theirs)
        self._control, self._ready = ours, False
        self._inner = _inner_pid(info) if self._sandboxed else -1

    def _command(self, control: int, info: int) -> list[str]:
        runner = [sys.executable, "-s", "-P", "-m", "autograder.learner.lab.runner", str(control)]
        if not self._sandboxed:
            return [*runner, str(self._run_py), str(self._lab_py)]
        box = Box(
            shown={self._run_py: _RUN, self._lab_py: _LAB},
            # malloc gives big blocks back at once, so that a memory limit measures what is alive
            environment={"MALLOC_MMAP_THRESHOLD_": "65536"},
        )
        return box.command([*runner, str(_RUN), str(_LAB)], info_fd=info)

    def run(self, greetings: Sequence[Greeting], rules: Rules, seconds: float) -> Ran:
        """Runs one case: a rank for each greeting, at most `seconds` from the moment the ranks are forked. Starts a
        new box where a case before has ended the old one. Raises BoxFailed when no box comes up."""
        if self._process is None:
            self.start()
        self._wait_ready()
        assert self._control is not None
        world = len(greetings)
        pairs = [socket.socketpair() for _ in range(world)]
        pipes = [os.pipe() for _ in range(world)]
        theirs = [pair[1].fileno() for pair in pairs] + [pipe[1] for pipe in pipes]
        prints = [_Printed(pipe[0]) for pipe in pipes]
        try:
            socket.send_fds(self._control, [json.dumps({"op": "case", "world": world}).encode()], theirs)
        except OSError as error:
            for ours, printed in zip(pairs, prints, strict=True):
                ours[0].close()
                printed.close()
            raise BoxFailed(f"the box has gone: {error}{self._said()}") from error
        finally:
            for pair in pairs:
                pair[1].close()
            for pipe in pipes:
                os.close(pipe[1])
        switch = Switch([pair[0] for pair in pairs], [(g.header, g.payload) for g in greetings], rules)
        for printed in prints:
            switch.watch(printed.fd, printed.read)
        outcome = switch.run(seconds)
        exits = self._stop(world, [rank for rank, end in enumerate(outcome.ends) if end.how == "crashed"])
        for printed in prints:
            printed.close()
        died = self._process is None
        return Ran(outcome, tuple(p.text() for p in prints), exits, died)

    def _wait_ready(self) -> None:
        assert self._control is not None
        if self._ready:
            return
        message = _receive(self._control, time.monotonic() + START_SECONDS)
        if message is None or message.get("op") != "ready":
            said = self._said()
            self.close()
            raise BoxFailed(f"the box for the ranks did not start{said}")
        self._ready = True

    def _stop(self, world: int, crashed: Sequence[int]) -> tuple[int | None, ...]:
        """Ends what is left of a case; ends the whole box where the runner in it does not answer in time.
        Ranks that have `crashed` get a moment first, in which the runner can say how they ended."""
        assert self._control is not None
        exits: list[int | None] = [None] * world
        try:
            moment = time.monotonic() + EXIT_SECONDS
            while any(exits[rank] is None for rank in crashed) and (
                message := _receive(self._control, moment)
            ):
                _note(message, exits)
            self._control.send(b'{"op": "stop"}')
            deadline = time.monotonic() + STOP_SECONDS
            while message := _receive(self._control, deadline):
                if message.get("op") == "idle":
                    return tuple(exits)
                _note(message, exits)
        except OSError:
            pass  # the runner has gone: the box is ended below, and the case says so
        self.close()
        return tuple(exits)

    def _said(self) -> str:
        """What bubblewrap or the runner wrote before it ended, for the reason."""
        if self._process is None or self._process.stderr is None:
            return ""
        os.set_blocking(self._process.stderr.fileno(), False)
        text = (self._process.stderr.read(4096) or b"").decode("utf-8", "replace").strip()
        return f": {text}" if text else ""

    def close(self) -> None:
        """Ends every process of the box and waits until it is gone. Raises BoxFailed if something stays."""
        process, self._process = self._process, None
        if self._control is not None:
            self._control.close()
            self._control = None
        if process is None:
            return
        if self._inner >= 0:
            # the box's first process takes all others with it; bubblewrap outside buries it, and ends
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._inner, signal.SIGKILL)
        # without a box the runner has to end its own: it does when its control socket closes
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if process.stderr is not None:
            process.stderr.close()
        self._home.close()
        if self._inner >= 0:
            # the box's first process is gone only when every process of its pid namespace is
            gone = bool(select.select([self._inner], [], [], STOP_SECONDS)[0])
            os.close(self._inner)
            self._inner = -1
            if not gone:
                raise BoxFailed("processes of a box would not end")


class _Printed:
    """What one rank prints: the start of it kept, the rest counted."""

    def __init__(self, fd: int) -> None:
        os.set_blocking(fd, False)
        self.fd = fd
        self._kept = bytearray()
        self._dropped = 0

    def read(self) -> bool:
        """Reads what is there; False at its end."""
        try:
            data = os.read(self.fd, 1 << 16)
        except BlockingIOError:
            return True
        room = PRINTED - len(self._kept)
        self._kept += data[:room]
        self._dropped += max(0, len(data) - room)
        return bool(data)

    def close(self) -> None:
        """Reads what is left, within bounds, and closes the pipe."""
        for _ in range(64):
            before = len(self._kept) + self._dropped
            if not self.read() or len(self._kept) + self._dropped == before:
                break
        os.close(self.fd)

    def text(self) -> str:
        """What was kept, and how much was not."""
        text = self._kept.decode("utf-8", "replace")
        return f"{text}\n… {self._dropped} bytes more" if self._dropped else text


def _note(message: dict[str, Any], exits: list[int | None]) -> None:
    rank, status = message.get("rank"), message.get("status")
    if type(rank) is int and 0 <= rank < len(exits) and type(status) is int:
        exits[rank] = status


def _receive(control: socket.socket, deadline: float) -> dict[str, Any] | None:
    """The runner's next message; None when it has ended, says something else, or is late. After the deadline nothing is
    taken any more, however much is said.
    """
    left = deadline - time.monotonic()
    ready = select.select([control], [], [], left)[0] if left > 0 else []
    data = control.recv(1 << 16) if ready else b""
    try:
        message = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return message if isinstance(message, dict) else None


def _inner_pid(info: int) -> int:
    """A pidfd of the box's first process, from what bubblewrap says; -1 when it says nothing (it then failed)."""
    with os.fdopen(info, "rb") as file:
        text = file.read()
    try:
        return os.pidfd_open(int(json.loads(text)["child-pid"]))
    except (ValueError, KeyError, ProcessLookupError):
        return -1


def _plain_environment() -> dict[str, str]:
    kept = {n: os.environ[n] for n in ("PATH", "HOME", "LANG", "OPENBLAS_CORETYPE") if n in os.environ}
    return {
        **kept,
        "PYTHONPATH": str(_PACKAGE_PARENT),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "OMP_NUM_THREADS": "1",
        "MALLOC_MMAP_THRESHOLD_": "65536",
    }
