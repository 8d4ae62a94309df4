"""Who runs next, and on what: submissions over the cores, memory and GPUs of one machine. Decides; starts nothing.

- Who has had least goes first, then who handed in first.
- Nobody waits for ever: whoever has been passed over `PATIENCE` times by later ones is *overdue*, and what overdue jobs
  need is kept for them. A later job starts only beside that.
- GPUs are leased whole, and a set lies close together: in one link group if one has room, in the fullest that has, so
  that whole groups stay free for those who need one.
- Of two hand-ins of a learner for one assignment only the newer counts, and the two never run at once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from autograder.engine.job import Job, Needs

PATIENCE = 16


@dataclass(frozen=True)
class Gpu:
    """One GPU, or one slice of a GPU that was cut in slices (MIG). `id` is what CUDA_VISIBLE_DEVICES takes; GPUs of one
    `group` are linked closely.
    """

    id: str
    group: str = ""
    name: str = "GPU"


@dataclass(frozen=True)
class Machine:
    """What there is: `slots` jobs at once at most, cores, memory in MiB, GPUs."""

    slots: int
    cores: int
    memory_mib: int
    gpus: tuple[Gpu, ...] = ()


@dataclass(frozen=True)
class Lease:
    """What a running job holds."""

    job: Job
    gpus: tuple[Gpu, ...] = ()


@dataclass
class _Waiting:
    job: Job
    place: int
    passed: int = 0


@dataclass
class Schedule:
    """The queue of one machine. Knows no clock: what happens is what it is told."""

    machine: Machine
    patience: int = PATIENCE
    running: dict[str, Lease] = field(default_factory=dict)
    _waiting: dict[tuple[str, str], _Waiting] = field(default_factory=dict)
    _had: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    _away: set[Gpu] = field(default_factory=set)
    _beside: set[str] = field(default_factory=set)
    _places: int = 0

    @property
    def waiting(self) -> list[Job]:
        """The jobs that wait, as they came."""
        return [w.job for w in sorted(self._waiting.values(), key=lambda w: w.place)]

    def never(self, needs: Needs) -> str:
        """Why a job can never run on this machine; empty when it can."""
        gpus = len(self.machine.gpus)
        if needs.gpus > gpus:
            return f"it needs {_count(needs.gpus, 'GPU')}, and there {'is' if gpus == 1 else 'are'} {gpus or 'none'}"
        if needs.memory_mib > self.machine.memory_mib:
            return f"it needs {needs.memory_mib} MiB of memory, and there are {self.machine.memory_mib} MiB"
        return ""

    def add(self, job: Job) -> Job | None:
        """Queues a job that fits the machine; returns the job it replaces, an older hand-in of the same learner for the
        same assignment that was still waiting.
        """
        before = self._waiting.pop(job.key, None)
        # A newer hand-in takes the place of the older one: handing in again costs nobody their turn.
        place = before.place if before else self._places
        self._places += 1
        self._waiting[job.key] = _Waiting(job, place, before.passed if before else 0)
        return before.job if before else None

    def drop_hopeless(self) -> list[tuple[Job, str]]:
        """Takes out the waiting jobs that can never run, since GPUs went; each with the reason."""
        found = [(w.job, self.never(w.job.needs)) for w in self._waiting.values()]
        hopeless = [(job, why) for job, why in found if why]
        for job, _ in hopeless:
            del self._waiting[job.key]
        return hopeless

    def next(self) -> Lease | None:
        """The job to start now and its GPUs, counted as running from here on; None while nothing can start."""
        busy = {lease.job.key for lease in self.running.values()}
        overdue = sorted((w for w in self._waiting.values() if w.passed >= self.patience), key=_place)
        others = [w for w in self._waiting.values() if w.passed < self.patience]
        others.sort(key=lambda w: (self._had[w.job.student], w.job.handed_in, w.place))
        for one in (*overdue, *others):
            # What those need who are overdue and came before it must stay within reach.
            kept = [w.job.needs for w in overdue if w.place < one.place and w.job.key not in busy]
            if one.job.key not in busy and self._fits(one.job.needs, kept):
                return self._start(one)
        return None

    def end(self, job: Job, *, keep: bool = False) -> Lease:
        """A job runs no more. With `keep` its GPUs are not leased again before they are `returned`."""
        lease = self.running.pop(job.id)
        if keep:
            self._away.update(lease.gpus)
        return lease

    def returned(self, gpu: Gpu) -> None:
        """A GPU that was kept is sound, and may be leased."""
        self._away.discard(gpu)

    def taken_out(self, gpu: Gpu) -> None:
        """A GPU that was kept is broken, and is none of the machine's any more."""
        self._away.discard(gpu)
        self.machine = replace(self.machine, gpus=tuple(one for one in self.machine.gpus if one != gpu))

    def free_gpus(self) -> list[Gpu]:
        """The GPUs that nobody holds."""
        held = {gpu for lease in self.running.values() for gpu in lease.gpus} | self._away
        return [gpu for gpu in self.machine.gpus if gpu not in held]

    def _fits(self, needs: Needs, kept: Sequence[Needs]) -> bool:
        running = [lease.job.needs for lease in self.running.values()]
        machine = self.machine
        now = _within(machine, [*running, needs]) and needs.gpus <= len(self.free_gpus())
        # Those who run now will end; but what starts beside a reservation may end after all of them.
        return now and (not kept or _within(machine, [*kept, *self._late(), needs]))

    def _late(self) -> list[Needs]:
        """What jobs hold that were started past an overdue one."""
        return [lease.job.needs for key, lease in self.running.items() if key in self._beside]

    def _start(self, one: _Waiting) -> Lease:
        del self._waiting[one.job.key]
        self._beside &= set(self.running)
        for other in self._waiting.values():
            if other.place < one.place:
                if other.passed >= self.patience:
                    self._beside.add(one.job.id)
                other.passed += 1
        lease = Lease(one.job, pick(self.free_gpus(), one.job.needs.gpus))
        self.running[one.job.id] = lease
        self._had[one.job.student] += one.job.needs.seconds
        return lease


def pick(free: Iterable[Gpu], count: int) -> tuple[Gpu, ...]:
    """`count` of the free GPUs: of one group where one has as many, the one with the fewest to spare; else of as few
    groups as possible.
    """
    groups: dict[str, list[Gpu]] = {}
    for gpu in free:
        groups.setdefault(gpu.group, []).append(gpu)
    chosen: list[Gpu] = []
    while len(chosen) < count:
        missing = count - len(chosen)
        enough = [group for group in groups.values() if len(group) >= missing]
        best = min(enough, key=len) if enough else max(groups.values(), key=len)
        chosen += best[:missing]
        del groups[best[0].group]
    return tuple(chosen)


def _within(machine: Machine, all_needs: Sequence[Needs]) -> bool:
    # Processes that share cores are slower, not wrong; and one lab never takes a machine's cores all for itself.
    most = max(1, machine.cores // 2)
    return (
        len(all_needs) <= machine.slots
        and sum(min(n.cores, most) for n in all_needs) <= machine.cores
        and sum(n.memory_mib for n in all_needs) <= machine.memory_mib
        and sum(n.gpus for n in all_needs) <= len(machine.gpus)
    )


def _place(waiting: _Waiting) -> int:
    return waiting.place


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
