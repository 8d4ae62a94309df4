"""The schedule on drawn queues and machines: nothing is promised twice, nobody waits for ever, all that fits runs."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.engine.job import Job, Needs
from autograder.engine.schedule import Gpu, Lease, Machine, Schedule, pick

NUMBERS = itertools.count()


def _job(student: str, needs: Needs, assignment: str = "", handed_in: float = 0.0) -> Job:
    number = next(NUMBERS)
    assignment = assignment or f"level-{number}"
    return Job(f"{number}", student, assignment, "/f", "d", needs, True, "r", "/c", handed_in=handed_in)


def _gpus(*sizes: int) -> tuple[Gpu, ...]:
    return tuple(Gpu(f"{group}.{n}", f"g{group}") for group, size in enumerate(sizes) for n in range(size))


@st.composite
def machines(draw: st.DrawFn) -> Machine:
    sizes = draw(st.lists(st.integers(1, 4), max_size=3))
    return Machine(
        draw(st.integers(1, 6)), draw(st.integers(1, 16)), draw(st.integers(100, 1000)), _gpus(*sizes)
    )


@st.composite
def queues(draw: st.DrawFn) -> tuple[Machine, list[Job]]:
    machine = draw(machines())
    needs = st.builds(
        Needs,
        cores=st.integers(1, 20),
        gpus=st.integers(0, len(machine.gpus)),
        memory_mib=st.integers(0, machine.memory_mib),
        seconds=st.floats(1, 100),
    )
    jobs = st.builds(_job, st.sampled_from("abcd"), needs, handed_in=st.floats(0, 10))
    return machine, draw(st.lists(jobs, max_size=25))


def _check(schedule: Schedule) -> None:
    machine, running = schedule.machine, list(schedule.running.values())
    most = max(1, machine.cores // 2)
    assert len(running) <= machine.slots
    assert sum(min(most, lease.job.needs.cores) for lease in running) <= machine.cores
    assert sum(lease.job.needs.memory_mib for lease in running) <= machine.memory_mib
    held = [gpu for lease in running for gpu in lease.gpus]
    assert len(held) == len(set(held)) and set(held) <= set(machine.gpus)
    assert all(len(lease.gpus) == lease.job.needs.gpus for lease in running)
    keys = [lease.job.key for lease in running]
    assert len(keys) == len(set(keys))


def _drive(schedule: Schedule, seed: int) -> Iterator[Lease]:
    """Starts all that starts, ends a job chosen by the seed, until nothing is left; yields what starts."""
    order = random.Random(seed)
    while schedule.waiting or schedule.running:
        while (lease := schedule.next()) is not None:
            _check(schedule)
            yield lease
        assert schedule.running, f"{len(schedule.waiting)} wait on an empty machine"
        schedule.end(order.choice(list(schedule.running.values())).job)


@settings(deadline=None)
@given(queues(), st.integers(0, 1000), st.integers(0, 5))
def test_all_that_fits_runs_once_and_nothing_is_promised_twice(
    queue: tuple[Machine, list[Job]], seed: int, patience: int
) -> None:
    machine, jobs = queue
    schedule = Schedule(machine, patience)
    for job in jobs:
        assert not schedule.never(job.needs)
        assert schedule.add(job) is None
    started = [lease.job.id for lease in _drive(schedule, seed)]
    assert sorted(started) == sorted(job.id for job in jobs)
    assert set(schedule.free_gpus()) == set(machine.gpus)


@given(machines(), st.integers(0, 1000), st.integers(0, 8), st.data())
@settings(max_examples=60, deadline=None)
def test_a_large_job_is_not_passed_for_ever_by_small_ones(
    machine: Machine, seed: int, patience: int, data: st.DataObject
) -> None:
    """However many small jobs keep coming, all that ran when a large one became overdue may end, and then it starts."""
    schedule = Schedule(machine, patience)
    order = random.Random(seed)
    small = Needs(memory_mib=machine.memory_mib // 10)
    large = _job("z", Needs(cores=99, gpus=len(machine.gpus), memory_mib=machine.memory_mib))
    for number in range(machine.slots + 1):
        schedule.add(_job(f"s{number}", small))
    first = schedule.next()
    assert first is not None
    schedule.add(large)
    passed, before = 0, None
    for number in range(10_000):
        schedule.add(_job(f"n{number}", small))
        while (lease := schedule.next()) is not None:
            _check(schedule)
            if lease.job is large:
                return
            passed += 1
        if passed > patience + machine.slots and before is None:
            before = {lease.job.id for lease in schedule.running.values()}
        assert before is None or before & set(schedule.running), (
            "all that ran before has ended, and it still waits"
        )
        schedule.end(order.choice(list(schedule.running.values())).job)
    pytest.fail("it never started")


def test_who_is_overdue_keeps_what_it_needs_and_no_more() -> None:
    schedule = Schedule(Machine(4, 8, 1000, _gpus(4)), patience=1)
    long = _job("a", Needs(gpus=1))
    big = _job("b", Needs(gpus=4))
    schedule.add(long)
    assert schedule.next() is not None
    schedule.add(big)
    schedule.add(_job("c", Needs(gpus=1)))
    passing = schedule.next()
    assert passing is not None and passing.job.student == "c"
    schedule.add(_job("d", Needs(gpus=1)))
    schedule.add(_job("e", Needs()))
    beside = schedule.next()
    assert beside is not None and beside.job.student == "e", "a job without GPUs takes nothing from it"
    assert schedule.next() is None
    schedule.end(long)
    schedule.end(passing.job)
    start = schedule.next()
    assert start is not None and start.job is big


@given(st.lists(st.integers(0, 4), min_size=1, max_size=5), st.data())
def test_sets_of_gpus_lie_close_together(sizes: list[int], data: st.DataObject) -> None:
    free = _gpus(*sizes)
    count = data.draw(st.integers(0, len(free)))
    order = data.draw(st.permutations(free))
    chosen = pick(order, count)
    assert len(set(chosen)) == count and set(chosen) <= set(free)
    groups = {gpu.group for gpu in chosen}
    fewest = next(n for n in range(len(sizes) + 1) if sum(sorted(sizes, reverse=True)[:n]) >= count)
    assert len(groups) == fewest
    enough = [size for size in sizes if size >= count]
    if enough and count:
        assert sizes[int(chosen[0].group[1:])] == min(enough), "whole groups stay free"


def test_who_has_had_least_goes_first_then_who_handed_in_first() -> None:
    schedule = Schedule(Machine(1, 4, 100))
    for job in (
        _job("a", Needs(), handed_in=1.0),
        _job("a", Needs(), handed_in=2.0),
        _job("a", Needs(), handed_in=3.0),
        _job("b", Needs(), handed_in=9.0),
        _job("c", Needs(), handed_in=8.0),
    ):
        schedule.add(job)
    assert [lease.job.student for lease in _drive(schedule, 0)] == ["a", "c", "b", "a", "a"]


@given(
    st.lists(
        st.tuples(st.sampled_from("abc"), st.integers(1, 12)),
        min_size=1,
        max_size=3,
        unique_by=lambda p: p[0],
    )
)
def test_no_learner_is_ever_two_ahead(queue: list[tuple[str, int]]) -> None:
    schedule = Schedule(Machine(1, 2, 100), patience=10_000)
    for student, count in queue:
        for _ in range(count):
            schedule.add(_job(student, Needs(seconds=1.0)))
    left = dict(queue)
    had = dict.fromkeys(left, 0)
    for lease in _drive(schedule, 0):
        student = lease.job.student
        others = [had[other] for other in left if left[other] and other != student]
        assert had[student] <= min(others, default=had[student])
        had[student] += 1
        left[student] -= 1


def test_a_newer_hand_in_takes_the_older_ones_place_and_never_runs_beside_it() -> None:
    schedule = Schedule(Machine(2, 4, 100))
    old, other, new = _job("a", Needs(), "x"), _job("b", Needs(), "x"), _job("a", Needs(), "x")
    assert schedule.add(old) is None and schedule.add(other) is None
    assert schedule.add(new) is old
    started = [schedule.next(), schedule.next()]
    assert {lease.job.id for lease in started if lease} == {new.id, other.id}
    newest = _job("a", Needs(), "x")
    assert schedule.add(newest) is None
    schedule.end(other)
    assert schedule.next() is None, "the one before still runs"
    schedule.end(new)
    last = schedule.next()
    assert last is not None and last.job is newest


def test_what_can_never_run_is_told_in_words() -> None:
    schedule = Schedule(Machine(2, 4, 2000, _gpus(1)))
    assert "needs 5 GPUs, and there is 1" in schedule.never(Needs(gpus=5))
    assert "needs 3000 MiB of memory, and there are 2000 MiB" in schedule.never(Needs(memory_mib=3000))
    assert not schedule.never(Needs(cores=64, gpus=1, memory_mib=2000)), "cores can be shared"
    assert "1 GPU, and there are none" in Schedule(Machine(2, 4, 2000)).never(Needs(gpus=1))


def test_a_gpu_that_is_kept_is_leased_when_it_returns_and_never_when_taken_out() -> None:
    schedule = Schedule(Machine(2, 4, 100, _gpus(2)))
    first, second = _job("a", Needs(gpus=2)), _job("b", Needs(gpus=2))
    schedule.add(first)
    lease = schedule.next()
    assert lease is not None
    schedule.add(second)
    schedule.end(first, keep=True)
    assert schedule.next() is None and schedule.free_gpus() == []
    schedule.returned(lease.gpus[0])
    assert schedule.next() is None
    schedule.taken_out(lease.gpus[1])
    assert [job for job, _ in schedule.drop_hopeless()] == [second]
    assert schedule.free_gpus() == [lease.gpus[0]]
