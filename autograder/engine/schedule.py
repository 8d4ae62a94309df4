"""Who is graded next, and on what: a queue without clocks, processes or files.

The learner who has been served least comes first, then who handed in first. What does not fit now is passed over, but
only so often: then nothing that came later starts before it. A learner's newer hand-in takes the place of an older one
of the same assignment that still waits.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from autograder.engine.devices import Gpu, choose
from autograder.engine.job import Job, Needs

PASSED_MOST = 32
"""How many that came later may start before one that waits."""


@dataclass(frozen=True)
class Machine:
    """What there is to lease."""

    cores: int
    memory_mib: int
    gpus: tuple[Gpu, ...] = ()

    def clipped(self, needs: Needs) -> Needs:
        """What a job gets: what it asks for, of cores and memory at most what there is, and then it runs alone."""
        return Needs(
            ranks=needs.ranks,
            cores=min(needs.cores, self.cores),
            gpus=needs.gpus,
            memory_mib=min(needs.memory_mib, self.memory_mib),
            seconds=needs.seconds,
        )


@dataclass(frozen=True)
class Lease:
    """What one running job holds."""

    cores: int
    memory_mib: int
    gpus: tuple[Gpu, ...] = ()


@dataclass
class _Waiting:
    job: Job
    number: int
    passed: int = 0


@dataclass
class Queue:
    """The jobs that wait for `machine`, and what the running ones hold."""

    machine: Machine
    _waiting: list[_Waiting] = field(default_factory=list)
    _held: dict[str, Lease] = field(default_factory=dict)
    _served: Counter[str] = field(default_factory=Counter)
    _numbers: int = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def running(self) -> int:
        """How many jobs hold a lease."""
        return len(self._held)

    def impossible(self, job: Job) -> str:
        """Why `job` can never run on this machine; empty when it can."""
        if job.needs.gpus > len(self.machine.gpus):
            return f"it needs {job.needs.gpus} GPUs, and this machine has {len(self.machine.gpus)} to lease"
        return ""

    def add(self, job: Job) -> Job | None:
        """Queues `job`; returns the older hand-in it replaces, if one was still waiting."""
        self._numbers += 1
        for waiting in self._waiting:
            if (waiting.job.student, waiting.job.assignment) == (job.student, job.assignment):
                replaced, waiting.job = waiting.job, job
                return replaced
        self._waiting.append(_Waiting(job, self._numbers))
        return None

    def next(self) -> tuple[Job, Lease] | None:
        """The job to start now with what it holds from now on; None where nothing that waits fits, or may."""
        overdue = min(
            (w for w in self._waiting if w.passed >= PASSED_MOST), key=lambda w: w.number, default=None
        )
        order = [overdue] if overdue else sorted(self._waiting, key=self._turn)
        for waiting in order:
            lease = self._lease(self.machine.clipped(waiting.job.needs))
            if lease is None:
                continue
            self._waiting.remove(waiting)
            for other in self._waiting:
                other.passed += other.number < waiting.number
            self._held[waiting.job.id] = lease
            self._served[waiting.job.student] += 1
            return waiting.job, lease
        return None

    def done(self, job: Job) -> Lease:
        """Gives back what `job` held."""
        return self._held.pop(job.id)

    def without(self, gpu: Gpu) -> list[Job]:
        """Takes a broken GPU out; returns the waiting jobs that can never run now."""
        left = tuple(other for other in self.machine.gpus if other != gpu)
        self.machine = Machine(self.machine.cores, self.machine.memory_mib, left)
        lost = [waiting for waiting in self._waiting if self.impossible(waiting.job)]
        self._waiting = [waiting for waiting in self._waiting if waiting not in lost]
        return [waiting.job for waiting in lost]

    def _turn(self, waiting: _Waiting) -> tuple[int, float, int]:
        return self._served[waiting.job.student], waiting.job.handed_in, waiting.number

    def _lease(self, needs: Needs) -> Lease | None:
        held = self._held.values()
        cores = self.machine.cores - sum(lease.cores for lease in held)
        memory = self.machine.memory_mib - sum(lease.memory_mib for lease in held)
        taken = {gpu for lease in held for gpu in lease.gpus}
        if needs.cores > cores or needs.memory_mib > memory:
            return None
        gpus = choose([gpu for gpu in self.machine.gpus if gpu not in taken], needs.gpus)
        return None if gpus is None else Lease(needs.cores, needs.memory_mib, gpus)
