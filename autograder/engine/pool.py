"""Runs jobs on this machine: worker processes, one job each at a time, over cores, memory and GPUs.

A worker or box that dies takes nothing with it but the try: the job starts again in a new worker, `STARTS_MOST` times
in all. The pool ends with no process left, whatever ends it; a worker that outlives it ends itself.
"""

from __future__ import annotations

import errno
import selectors
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from autograder.engine import devices
from autograder.engine.events import Engine, Event, Told, Unwritable
from autograder.engine.hands import END_SECONDS, Worker
from autograder.engine.job import Job
from autograder.engine.schedule import Gpu, Lease, Machine, Schedule
from autograder.engine.scratch import scratch
from autograder.engine.spool import Spool

__all__ = ["Engine", "Event", "LocalPool", "Unwritable"]

STARTS_MOST = 3
TICK_SECONDS = 0.2
WALL_FACTOR, WALL_MORE = 3.0, 300.0
"""A job may take so many times its own limits, and so many seconds more, before its worker counts as stuck."""

More = Callable[[], Iterable[Job] | None]


class LocalPool:
    """An Engine on this machine. `workers` jobs at once (0: one a core), `memory_mib` to be set aside for them (0: what
    the machine has), `gpus` to be leased (None: those there are). `health` says what is wrong with a GPU. Workers write
    what they have to say to `log`.
    """

    def __init__(
        self,
        workers: int = 0,
        memory_mib: int = 0,
        gpus: tuple[Gpu, ...] | None = None,
        *,
        health: Callable[[Gpu], str] = devices.check,
        log: Path | None = None,
    ) -> None:
        cores = devices.cores()
        self.machine = Machine(
            slots=workers or cores,
            cores=max(cores, workers),
            memory_mib=memory_mib or devices.memory_mib(),
            gpus=devices.gpus() if gpus is None else gpus,
        )
        self._health = health
        self._log = log

    def in_force(self) -> str:
        """What it works with, in words."""
        machine = self.machine
        gpus = f", {len(machine.gpus)} GPUs" if machine.gpus else ""
        return f"{machine.slots} workers on {machine.cores} cores, {machine.memory_mib} MiB of memory{gpus}"

    def run(self, jobs: Sequence[Job], spool: Spool, told: Told, more: More | None = None) -> None:
        """See Engine. With `more` it asks for more jobs at each tick, until that gives None. Raises Unwritable."""
        with scratch() as folder, _Run(self.machine, spool, told, self._health, folder, self._log) as run:
            for job in jobs:
                run.add(job)
            open_ended = more is not None
            while True:
                if open_ended and more is not None:
                    found = more()
                    open_ended = found is not None
                    for job in found or ():
                        run.add(job)
                run.start()
                if run.idle and not open_ended:
                    return
                run.wait(TICK_SECONDS)
                told(Event("tick"))


class _Run:
    """One run of a pool: a context manager that leaves no process."""

    def __init__(
        self,
        machine: Machine,
        spool: Spool,
        told: Told,
        health: Callable[[Gpu], str],
        folder: Path,
        log: Path | None,
    ) -> None:
        self._schedule = Schedule(machine)
        self._spool, self._told, self._health = spool, told, health
        self._folder, self._log = folder, log
        self._workers: dict[int, Worker] = {}
        self._starts: Counter[str] = Counter()
        self._selector = selectors.DefaultSelector()
        self._doctor = ThreadPoolExecutor(1, thread_name_prefix="health")
        self._checks: dict[Gpu, Future[str]] = {}

    def __enter__(self) -> _Run:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        workers = list(self._workers.values())
        for worker in workers:
            if kind is None and worker.lease is None:
                worker.tell_to_finish()
        for worker in workers:
            worker.end(END_SECONDS if kind is None and worker.lease is None else 0.0)
        self._selector.close()
        self._doctor.shutdown(wait=False, cancel_futures=True)

    @property
    def idle(self) -> bool:
        return not (self._schedule.running or self._schedule.waiting or self._checks)

    def add(self, job: Job) -> None:
        """Queues a job, or says at once that it cannot be run."""
        if why := self._schedule.never(job.needs):
            self._told(Event("failed", job, why=f"this machine cannot run it: {why}"))
            return
        before = self._schedule.add(job)
        if before is not None and before.id != job.id:
            self._told(Event("replaced", before, by=job))
        self._told(Event("queued", job))

    def start(self) -> None:
        """Starts what can be started."""
        while (lease := self._schedule.next()) is not None:
            slot = next(n for n in range(len(self._workers) + 1) if self._free(n))
            self._told(Event("started", lease.job, slot))
            self._starts[lease.job.id] += 1
            seconds = WALL_FACTOR * lease.job.needs.seconds + WALL_MORE
            if slot in self._workers:
                try:
                    self._workers[slot].give(lease, self._spool, seconds)
                    continue
                except OSError:  # it has died with nothing to do: that is no try of this job
                    self._lay_off(self._workers[slot])
            try:
                self._hire(slot).give(lease, self._spool, seconds)
            except OSError as error:
                if slot in self._workers:
                    self._lay_off(self._workers[slot])
                self._died(lease, f"no worker could be started: {error}")

    def wait(self, seconds: float) -> None:
        """Hears what workers answer within so many seconds, and ends those that are stuck."""
        for key, _ in self._selector.select(seconds):
            worker = self._workers.get(key.data)
            if worker is not None and worker.channel is key.fileobj:  # not laid off meanwhile
                self._hear(worker)
        now = time.monotonic()
        for worker in list(self._workers.values()):
            if worker.lease is not None and now > worker.deadline:
                lease, worker.lease = worker.lease, None
                self._lay_off(worker)
                self._give_up(lease, "it took far longer than its own limits allow, and was ended", True)
        self._heal()

    def _free(self, slot: int) -> bool:
        return slot not in self._workers or self._workers[slot].lease is None

    def _hire(self, slot: int) -> Worker:
        worker = Worker(slot, self._folder / str(slot), self._log)
        self._workers[slot] = worker
        self._selector.register(worker.channel, selectors.EVENT_READ, slot)
        return worker

    def _lay_off(self, worker: Worker) -> str:
        del self._workers[worker.slot]
        self._selector.unregister(worker.channel)
        return worker.end()

    def _hear(self, worker: Worker) -> None:
        lease = worker.lease
        try:
            answer = worker.hear()
        except EOFError:
            worker.lease = None
            how = self._lay_off(worker)
            if lease is not None:
                self._died(lease, f"its worker {how}")
            return
        if answer is None or lease is None or answer.id != lease.job.id:
            return
        worker.lease = None
        if answer.unwritable:
            raise Unwritable(errno.EIO, answer.why)
        self._schedule.end(lease.job)
        self._starts.pop(lease.job.id, None)
        self._told(Event("failed" if answer.why else "finished", lease.job, why=answer.why))

    def _died(self, lease: Lease, why: str) -> None:
        if self._starts[lease.job.id] >= STARTS_MOST:
            self._give_up(lease, f"{why}, {STARTS_MOST} times", bool(lease.gpus))
            return
        self._end(lease, bool(lease.gpus))
        self._told(Event("again", lease.job, why=why))
        if all(
            job.key != lease.job.key for job in self._schedule.waiting
        ):  # else a newer one has come meanwhile
            self._schedule.add(lease.job)

    def _give_up(self, lease: Lease, why: str, suspect: bool) -> None:
        self._end(lease, suspect and bool(lease.gpus))
        self._starts.pop(lease.job.id, None)
        self._told(Event("failed", lease.job, why=why))

    def _end(self, lease: Lease, suspect: bool) -> None:
        """Frees what a job held; its GPUs, where it crashed on them, only once they are found to work."""
        held = self._schedule.end(lease.job, keep=suspect)
        for gpu in held.gpus if suspect else ():
            self._checks[gpu] = self._doctor.submit(self._health, gpu)

    def _heal(self) -> None:
        for gpu, check in list(self._checks.items()):
            if not check.done():
                continue
            del self._checks[gpu]
            error = check.exception()
            wrong = f"{type(error).__name__}: {error}" if error else check.result()
            if not wrong:
                self._schedule.returned(gpu)
                continue
            self._schedule.taken_out(gpu)
            self._told(Event("word", why=f"{gpu.name} {gpu.id} is left out from here on: {wrong}"))
            for job, why in self._schedule.drop_hopeless():
                self._told(Event("failed", job, why=f"this machine cannot run it: {why}"))
