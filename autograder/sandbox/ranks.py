"""The ranks of one lab hand-in: a session in the warm zygote's box, one case after another, each with fresh sockets.

Every rank is forked, with torch imported, into namespaces of its own. What it can reach is the switch, over one
inherited socket, and a pipe for what it prints.
"""

from __future__ import annotations

import contextlib
import os
import socket
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import msgspec

from autograder.judge.switch import Outcome, Rules, Switch
from autograder.judge.switch.dtypes import Bytes
from autograder.sandbox import zygote
from autograder.sandbox.bwrap import MiB
from autograder.sandbox.printed import Printed
from autograder.sandbox.session import Session, receive
from autograder.sandbox.unavailable import BoxFailed

BEGIN_SECONDS = 60.0
STOP_SECONDS = 10.0
EXIT_SECONDS = 0.5
MEMORY = 8192 * MiB
PROCESSES = 1024
TMPFS = {"/tmp": 64 * MiB, "/dev/shm": 64 * MiB}
_RUN, _LAB = Path("/lab/run.py"), Path("/lab/lab.py")

Profile = Literal["rank", "equality"]


@dataclass(frozen=True)
class Greeting:
    """The first frame of a rank: its task, its place, its inputs. See `autograder.learner.lab.rank`."""

    header: dict[str, Any]
    payload: Bytes


class Place(msgspec.Struct, frozen=True):
    """Where the ranks of a case run. `profile`: "rank", each in namespaces of its own, or "equality", all in the same
    ones, with a loopback network: for a case on a real backend. `tmpfs`: path to bytes, writable.
    """

    profile: Profile = "rank"
    tmpfs: dict[str, int] = msgspec.field(default_factory=TMPFS.copy)


@dataclass(frozen=True)
class Ran:
    """One case that ran. `printed[r]` is what rank r wrote on its outputs, cut; `exits[r]` its exit status as the box
    tells it (a negative number: the signal), None where the box told none. `out_of_memory`: the kernel has ended a
    process of this hand-in for want of memory.
    """

    outcome: Outcome
    printed: tuple[str, ...]
    exits: tuple[int | None, ...]
    out_of_memory: bool


class RankBox:
    """The ranks of one submission. A context manager: leaving it ends every process of theirs."""

    def __init__(
        self, run_py: Path, lab_py: Path, *, sandboxed: bool = True, memory_bytes: int = MEMORY
    ) -> None:
        """`run_py` is the lab's, `lab_py` the learner's. `sandboxed=False` runs the same processes without a box.
        `memory_bytes`: what all ranks together may have, where control groups are to be had.
        """
        self._run_py, self._lab_py, self._sandboxed = run_py, lab_py, sandboxed
        self._memory = memory_bytes
        self._stack = contextlib.ExitStack()
        self._session: Session | None = None

    def __enter__(self) -> RankBox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends every process of the submission and waits until none is left."""
        self._session = None
        self._stack.close()

    def store(self) -> str:
        """A path for the meeting point of the ranks of one case on a real backend; nothing is there yet."""
        if self._sandboxed:
            return "/tmp/store"  # of the case's own namespaces
        return str(Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="ranks-"))) / "store")

    def run(
        self, greetings: Sequence[Greeting], rules: Rules, seconds: float, place: Place | None = None
    ) -> Ran:
        """Runs one case: a rank for each greeting, at most `seconds` from the moment the ranks are forked. Begins anew
        where a case before has ended the submission's supervisor. Raises BoxFailed when nothing can be started.
        """
        case = {"op": "case", **msgspec.structs.asdict(place or Place())}
        world = len(greetings)
        with contextlib.ExitStack() as ours:
            pairs = [socket.socketpair() for _ in range(world)]
            outs = [os.pipe() for _ in range(world)]
            prints = [ours.enter_context(Printed(out[0])) for out in outs]
            try:
                self._send(case, [*(pair[1].fileno() for pair in pairs), *(out[1] for out in outs)])
            except BaseException:
                for pair in pairs:
                    pair[0].close()
                raise
            finally:
                for pair in pairs:
                    pair[1].close()
                for out in outs:
                    os.close(out[1])
            switch = Switch([pair[0] for pair in pairs], [(g.header, g.payload) for g in greetings], rules)
            for printed in prints:
                switch.watch(printed.fd, printed.read)
            outcome = switch.run(seconds)
            exits = self._stop(world, [rank for rank, end in enumerate(outcome.ends) if end.how == "crashed"])
            texts = tuple(printed.rest() for printed in prints)
        assert self._session is not None
        short = self._session.out_of_memory()
        if exits is None:
            self.close()
            if not short:
                # No learner code can reach the supervisor, so that this is the machine's doing.
                raise BoxFailed("what started the ranks ended, or did not answer")
        return Ran(outcome, texts, exits or (None,) * world, short)

    def _send(self, case: dict[str, Any], fds: Sequence[int]) -> None:
        """Has the supervisor start a case; one that has died since the last is replaced."""
        if self._session is not None:
            try:
                self._session.send(case, fds)
                return
            except OSError:
                self.close()
        try:
            self._begin().send(case, fds)
        except OSError as error:
            raise BoxFailed(f"the box has gone: {error}") from error

    def _begin(self) -> Session:
        session = self._stack.enter_context(
            zygote.session("ranks", sandboxed=self._sandboxed, memory_bytes=self._memory, processes=PROCESSES)
        )
        if self._sandboxed:
            with self._run_py.open("rb") as run, self._lab_py.open("rb") as lab:
                paths = {"op": "lab", "run": str(_RUN), "lab": str(_LAB)}
                session.send(paths, [run.fileno(), lab.fileno()])
        else:
            session.send({"op": "lab", "run": str(self._run_py), "lab": str(self._lab_py)})
        said = receive(session.control, time.monotonic() + BEGIN_SECONDS) or {}
        if said.get("op") != "ready":
            self.close()
            raise BoxFailed(f"the lab's own run.py was not loaded: {said.get('why', 'no word of it')}")
        self._session = session
        return session

    def _stop(self, world: int, crashed: Sequence[int]) -> tuple[int | None, ...] | None:
        """Ends what is left of a case; how the ranks ended, None where the supervisor does not answer in time.
        Ranks that have `crashed` get a moment first, in which it can be said how they ended.
        """
        session = self._session
        assert session is not None
        exits: list[int | None] = [None] * world
        try:
            moment = time.monotonic() + EXIT_SECONDS
            while any(exits[rank] is None for rank in crashed) and (
                message := receive(session.control, moment)
            ):
                _note(message, exits)
            session.send({"op": "stop"})
            deadline = time.monotonic() + STOP_SECONDS
            while message := receive(session.control, deadline):
                if message.get("op") == "idle":
                    return tuple(exits)
                _note(message, exits)
        except OSError:
            return None  # it has gone
        return None


def _note(message: dict[str, Any], exits: list[int | None]) -> None:
    if message.get("op") == "broken":
        raise BoxFailed(f"the box could not start a rank: {message.get('why')}")
    if message.get("op") == "exit":
        exits[message["name"]] = message["status"]
