"""The queue's laws: nothing is leased twice, what fits is run in the end, nobody starves, learners take turns."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.engine.devices import Gpu, choose
from autograder.engine.job import Job, Needs
from autograder.engine.schedule import PASSED_MOST, Lease, Machine, Queue

GPUS = tuple(Gpu(f"gpu-{number}", group=number // 4) for number in range(8))


def job(name: str, student: str = "ada", *, handed_in: float = 0.0, **needs: int) -> Job:
    return Job(
        id=f"{student}-{name}",
        student=student,
        assignment=name,
        folder="",
        root="",
        digest=name,
        needs=Needs(**{"memory_mib": 100, **needs}),  # type: ignore[arg-type]
        handed_in=handed_in,
    )


jobs = st.lists(
    st.builds(
        lambda student, cores, gpus, memory: (student, cores, gpus, memory),
        st.sampled_from("abcd"),
        st.integers(1, 6),
        st.integers(0, 8),
        st.integers(1, 20_000),
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(jobs, st.integers(1, 8), st.integers(1000, 16_000), st.randoms())
def test_what_fits_the_machine_is_run_once_and_nothing_is_leased_twice(
    asked: list[tuple[str, int, int, int]], cores: int, memory: int, chance: object
) -> None:
    machine = Machine(cores, memory, GPUS)
    queue = Queue(machine)
    for number, (student, want, gpus, mib) in enumerate(asked):
        queue.add(job(str(number), student, cores=want, gpus=gpus, memory_mib=mib))
    running: dict[str, tuple[Job, Lease]] = {}
    ran: list[str] = []
    while len(queue) or running:
        while (found := queue.next()) is not None:
            running[found[0].id] = found
            ran.append(found[0].id)
        leases = [lease for _, lease in running.values()]
        assert sum(lease.cores for lease in leases) <= cores
        assert sum(lease.memory_mib for lease in leases) <= memory
        held = Counter(gpu for lease in leases for gpu in lease.gpus)
        assert all(count == 1 for count in held.values())
        assert all(len(lease.gpus) == done.needs.gpus for done, lease in running.values())
        assert running, "something waits, nothing runs, and nothing starts"
        ended = chance.choice(sorted(running))  # type: ignore[attr-defined]
        queue.done(running.pop(ended)[0])
    assert sorted(ran) == sorted(f"{student}-{number}" for number, (student, *_) in enumerate(asked))


def test_a_large_job_is_passed_over_only_so_often() -> None:
    """Small ones come without end and would always leave too little for the one that needs all GPUs."""
    queue = Queue(Machine(8, 10_000, GPUS))
    first = job("first", "zoe", gpus=1)
    queue.add(first)
    assert queue.next() is not None
    queue.add(job("large", gpus=8))
    started = [first]
    for number in range(200):
        queue.add(job(str(number), f"s{number}", gpus=1))
        found = queue.next()
        if found is not None:
            started.append(found[0])
        if found is None or len(started) > 5:
            queue.done(started.pop(0))
        if found is not None and found[0].assignment == "large":
            break
    else:
        raise AssertionError("the large job starved")
    assert number <= PASSED_MOST + len(GPUS) + 1


def test_learners_take_turns_and_among_one_learners_the_first_comes_first() -> None:
    queue = Queue(Machine(1, 1000))
    for number in range(3):
        queue.add(job(f"a{number}", "ada", handed_in=number))
    queue.add(job("b", "ben", handed_in=9))
    queue.add(job("c", "chloe", handed_in=8))
    order = []
    while (found := queue.next()) is not None:
        order.append(found[0].assignment)
        queue.done(found[0])
    assert order == ["a0", "c", "b", "a1", "a2"]


def test_a_newer_hand_in_takes_the_place_of_one_that_waits() -> None:
    queue = Queue(Machine(1, 1000))
    old, new, other = job("x"), job("x"), job("y")
    assert (queue.add(old), queue.add(other)) == (None, None)
    assert queue.add(new) is old and len(queue) == 2
    found = queue.next()
    assert found is not None and found[0] is new
    # one that runs is not disturbed: the newer one waits for its turn
    again = job("x")
    assert queue.add(again) is None


def test_gpus_are_packed_and_a_broken_one_is_leased_no_more() -> None:
    free = [GPUS[0], GPUS[1], *GPUS[4:8]]
    assert choose(free, 2) == (GPUS[0], GPUS[1]), "the whole group of four stays free"
    assert choose(free, 3) == GPUS[4:7]
    assert choose(free, 6) is not None and choose(free, 7) is None
    queue = Queue(Machine(4, 10_000, GPUS[:3]))
    queue.add(job("three", gpus=3))
    queue.add(job("two", gpus=2))
    assert [lost.assignment for lost in queue.without(GPUS[1])] == ["three"]
    assert queue.impossible(job("three", gpus=3)) == "it needs 3 GPUs, and this machine has 2 to lease"
    found = queue.next()
    assert found is not None and found[1].gpus == (GPUS[0], GPUS[2])


def test_two_and_three_of_four_gpus_wait_for_each_other() -> None:
    queue = Queue(Machine(8, 10_000, GPUS[:4]))
    queue.add(job("two", "ada", gpus=2))
    queue.add(job("three", "ben", gpus=3))
    first = queue.next()
    assert first is not None and queue.next() is None
    queue.done(first[0])
    assert queue.next() is not None


def test_who_asks_for_more_cores_or_memory_than_there_are_runs_alone() -> None:
    queue = Queue(Machine(2, 4000))
    queue.add(job("greedy", cores=64, memory_mib=1 << 20))
    queue.add(job("small", "ben"))
    found = queue.next()
    assert found is not None and found[1] == Lease(2, 4000) and queue.next() is None
