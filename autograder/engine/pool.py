"""Grades jobs on this machine: worker processes, a job each at a time, through every death of one of them."""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from autograder.engine.devices import Gpu, healthy
from autograder.engine.job import Job
from autograder.engine.schedule import Lease, Machine, Queue
from autograder.engine.spool import Spool

STARTS_MOST = 3
"""How often a job is begun whose worker dies, before it waits for a person."""

TICK = 0.5
GRACE = 300.0
GOODBYE = 20.0
_PREFIX = "shardlab-pool-"


@dataclass(frozen=True)
class Event:
    """What became of a job. `how`: "running" (told before it begins), "graded" (its result is in the spool), "blocked"
    (`why`: a fault of ours or of the machine's), "replaced" (by a newer hand-in that came in while it waited).
    """

    how: Literal["running", "graded", "blocked", "replaced"]
    job: Job
    why: str = ""


class Unwritable(RuntimeError):
    """What was graded cannot be kept: the disk is full, or the folder is not ours."""


Tell = Callable[[Event], None]
More = Callable[[], Iterable[Job] | None]
"""Asked now and then for jobs that came meanwhile; None: there will be no more."""


class Engine(Protocol):
    """Where hand-ins are graded."""

    def run(self, jobs: Sequence[Job], spool: Spool, told: Tell, more: More | None = None) -> None:
        """Grades all `jobs`, and what `more` brings until it says None; returns when the last is told of."""

    def stop(self) -> None:
        """Has `run` end what is running and return soon; callable from any thread."""


@dataclass
class _Worker:
    process: subprocess.Popen[bytes]
    line: socket.socket
    home: Path
    job: Job | None = None
    lease: Lease | None = None
    deadline: float = 0.0
    heard: bytearray = field(default_factory=bytearray)


class LocalPool:
    """Worker processes on this machine. `run` in one thread; the workers die with it."""

    def __init__(
        self,
        machine: Machine,
        *,
        log: Path,
        is_healthy: Callable[[Gpu], bool] = healthy,
    ) -> None:
        """As many workers as `machine` has cores. `log` takes what goes wrong; `is_healthy` is asked of each GPU whose
        job's worker died.
        """
        self._queue = Queue(machine)
        self._log, self._is_healthy = log, is_healthy
        self._workers: list[_Worker] = []
        self._starts: dict[str, int] = {}
        self._stop = threading.Event()
        self._made = 0

    def stop(self) -> None:
        self._stop.set()

    def run(self, jobs: Sequence[Job], spool: Spool, told: Tell, more: More | None = None) -> None:
        """See `Engine.run`. Raises OSError where no worker can be started, Unwritable."""
        _sweep()
        self._work = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        self._spool, self._told = spool, told
        try:
            self._add(jobs)
            while not self._stop.is_set() and (more is not None or len(self._queue) or self._queue.running):
                if more is not None:
                    came = more()
                    if came is None:
                        more = None
                    else:
                        self._add(came)
                self._start()
                self._hear(TICK)
        finally:
            for worker in list(self._workers):
                self._end(worker)
            shutil.rmtree(self._work, ignore_errors=True)

    def _add(self, jobs: Iterable[Job]) -> None:
        for job in jobs:
            why = self._queue.impossible(job)
            if why:
                self._told(Event("blocked", job, why))
                continue
            replaced = self._queue.add(job)
            if replaced is not None:
                self._told(Event("replaced", replaced))

    def _start(self) -> None:
        """Starts what fits."""
        while not self._stop.is_set() and (found := self._queue.next()) is not None:
            job, lease = found
            self._starts[job.id] = self._starts.get(job.id, 0) + 1
            self._told(Event("running", job))
            worker = next((w for w in self._workers if w.job is None), None) or self._new_worker()
            worker.job, worker.lease = job, lease
            worker.deadline = time.monotonic() + 2 * job.needs.seconds + GRACE
            nodes = sorted({str(node) for gpu in lease.gpus for node in gpu.nodes})
            order = {
                "job": msgspec.to_builtins(job),
                "gpus": [gpu.uuid for gpu in lease.gpus],
                "nodes": nodes,
            }
            # A worker that has died meanwhile is found out when nothing comes back.
            with contextlib.suppress(OSError):
                worker.line.sendall(json.dumps(order).encode() + b"\n")

    def _new_worker(self) -> _Worker:
        self._made += 1
        home = self._work / str(self._made)
        home.mkdir()
        ours, theirs = socket.socketpair()
        with theirs:
            process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "autograder.engine.worker",
                    str(theirs.fileno()),
                    str(self._spool.folder),
                    str(self._log),
                ],
                env={**os.environ, "TMPDIR": str(home)},
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        ours.setblocking(False)
        worker = _Worker(process, ours, home)
        self._workers.append(worker)
        return worker

    def _hear(self, seconds: float) -> None:
        """Takes what workers say, and sees to those that have died or take too long."""
        with selectors.DefaultSelector() as selector:
            for worker in self._workers:
                selector.register(worker.line, selectors.EVENT_READ, worker)
            for key, _ in selector.select(seconds):
                self._read(key.data)
        now = time.monotonic()
        for worker in list(self._workers):
            if worker.job is not None and now > worker.deadline:
                self._died(worker, f"it took longer than {2 * worker.job.needs.seconds + GRACE:g} s")

    def _read(self, worker: _Worker) -> None:
        try:
            data = worker.line.recv(1 << 16)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data = b""
        if not data:
            self._died(worker, "its worker was ended from outside")
            return
        worker.heard += data
        while b"\n" in worker.heard:
            text, _, rest = worker.heard.partition(b"\n")
            worker.heard[:] = rest
            self._answered(worker, json.loads(text))

    def _answered(self, worker: _Worker, answer: dict[str, Any]) -> None:
        job = worker.job
        assert job is not None
        worker.job = worker.lease = None
        self._queue.done(job)
        if "unwritable" in answer:
            raise Unwritable(f"{answer['why']}. What is graded stands: make room, and start again")
        if "failed" in answer:
            self._told(Event("blocked", job, answer["why"]))
        else:
            self._told(Event("graded", job))

    def _died(self, worker: _Worker, why: str) -> None:
        job = worker.job
        self._end(worker)
        if job is None:
            return
        lease = self._queue.done(job)
        for gpu in lease.gpus:
            if not self._is_healthy(gpu):
                for lost in self._queue.without(gpu):
                    self._told(Event("blocked", lost, f"GPU {gpu.uuid} does not work any more"))
        if self._starts[job.id] < STARTS_MOST:
            self._add([job])
        else:
            self._told(Event("blocked", job, f"begun {STARTS_MOST} times, and each time {why}"))

    def _end(self, worker: _Worker) -> None:
        """Ends a worker, and with it all boxes it holds. One that has nothing to do is given the time to put things
        away.
        """
        self._workers.remove(worker)
        worker.line.close()
        if worker.job is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                worker.process.wait(GOODBYE)
        worker.process.kill()
        worker.process.wait()
        shutil.rmtree(worker.home, ignore_errors=True)


def _sweep() -> None:
    """Takes away the temporary files of pools that were killed."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}[0-9]*-*"):
        pid = left.name.removeprefix(_PREFIX).split("-")[0]
        ours = left.is_dir() and not left.is_symlink() and left.stat().st_uid == os.geteuid()
        if ours and not Path("/proc", pid).exists():
            shutil.rmtree(left, ignore_errors=True)
