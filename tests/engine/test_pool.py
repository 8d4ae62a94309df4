"""Worker processes on this machine, through their deaths; and the watch over what is handed in."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path

import msgspec
import psutil
import pytest

from autograder import grading
from autograder.content import Course
from autograder.engine import handins
from autograder.engine import job as jobs
from autograder.engine.devices import Gpu
from autograder.engine.handins import HandIn
from autograder.engine.job import Job
from autograder.engine.pool import STARTS_MOST, Event, LocalPool
from autograder.engine.schedule import Machine
from autograder.engine.spool import Spool
from autograder.engine.watch import Watch
from autograder.verdict import Status, Verdict
from tests.notebooks import tiny

TWO = Machine(2, 8000)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return tiny.lay_out(tmp_path / "c")


def _jobs(course: Course) -> list[Job]:
    found = handins.find(course, course.root / "submitted")
    return [jobs.make(course, h.assignment, h.student, h.folder, run="run") for h in found.hand_ins]


def _workers() -> list[psutil.Process]:
    return [p for p in psutil.Process().children() if "autograder.engine.worker" in p.cmdline()]


def _pool(tmp_path: Path, machine: Machine = TWO, **more: object) -> LocalPool:
    return LocalPool(machine, log=tmp_path / "log", **more)  # type: ignore[arg-type]


def test_a_worker_that_is_killed_costs_nothing(course: Course, tmp_path: Path) -> None:
    for name in ("ada", "ben", "chloe"):
        tiny.hand_in(course, name, tiny.filled(course))
    told: list[Event] = []
    killed: list[int] = []

    def tell(event: Event) -> None:
        told.append(event)
        if event.how == "running" and event.job.student == "ben" and not killed:
            threading.Timer(1.0, kill).start()

    def kill() -> None:
        for process in _workers():
            killed.append(process.pid)
            process.send_signal(signal.SIGKILL)

    spool = Spool(tmp_path / "spool")
    todo = _jobs(course)
    _pool(tmp_path).run(todo, spool, tell)
    assert killed
    assert sorted(e.job.student for e in told if e.how == "graded") == ["ada", "ben", "chloe"]
    scores = {job.student: found[0].score for job in todo if (found := spool.take(job))}
    assert scores == {"ada": 6.0, "ben": 6.0, "chloe": 6.0}
    assert not _workers()


def test_a_job_whose_worker_always_dies_waits_for_a_person(course: Course, tmp_path: Path) -> None:
    tiny.hand_in(course, "ada", tiny.filled(course))
    gpus = (Gpu("gpu-0"), Gpu("gpu-1"))
    asked: list[Gpu] = []
    told: list[Event] = []

    def tell(event: Event) -> None:
        told.append(event)
        if event.how == "running":
            threading.Timer(0.5, lambda: [p.kill() for p in _workers()]).start()

    (job,) = _jobs(course)
    job = msgspec.structs.replace(job, needs=msgspec.structs.replace(job.needs, gpus=1))
    pool = _pool(tmp_path, Machine(1, 8000, gpus), is_healthy=lambda gpu: asked.append(gpu) or True)
    pool.run([job], Spool(tmp_path / "spool"), tell)
    assert [event.how for event in told] == ["running"] * STARTS_MOST + ["blocked"]
    assert "begun 3 times, and each time its worker was ended from outside" in told[-1].why
    assert asked == [gpus[0]] * STARTS_MOST, "a GPU is looked at before it is leased again"


def test_what_no_lease_can_give_is_said_at_once(course: Course, tmp_path: Path) -> None:
    tiny.hand_in(course, "ada", tiny.filled(course))
    (job,) = _jobs(course)
    job = msgspec.structs.replace(job, needs=msgspec.structs.replace(job.needs, gpus=2))
    told: list[Event] = []
    _pool(tmp_path).run([job], Spool(tmp_path / "spool"), told.append)
    assert [(e.how, e.why) for e in told] == [("blocked", "it needs 2 GPUs, and this machine has 0 to lease")]


def test_a_course_that_is_broken_blocks_and_tells(course: Course, tmp_path: Path) -> None:
    tiny.hand_in(course, "ada", tiny.filled(course))
    (job,) = _jobs(course)
    (course.root / "course.toml").write_text("title = 3\n")
    told: list[Event] = []
    _pool(tmp_path).run([job], Spool(tmp_path / "spool"), told.append)
    assert [e.how for e in told] == ["running", "blocked"] and "course.toml" in told[-1].why


def test_a_run_that_was_stopped_goes_on_and_grades_nothing_twice(course: Course) -> None:
    names = [f"s{number}" for number in range(6)]
    for name in names:
        tiny.hand_in(course, name, tiny.filled(course))
    options = grading.Options(results=course.root / "results", jobs=2)
    seen: list[Verdict] = []

    def until_two(verdict: Verdict) -> None:
        seen.append(verdict)
        if len(seen) == 2:
            raise KeyboardInterrupt

    found = handins.find(course, course.root / "submitted")
    with pytest.raises(KeyboardInterrupt):
        grading.grade(course, found, options, until_two)
    assert not _workers()
    tiny.hand_in(
        course, seen[0].student, tiny.filled(course, ans_0_2="pick = 'a'")
    )  # handed in anew meanwhile
    before = {v.student: (course.root / f"results/{v.student}/level-0.json").stat().st_mtime_ns for v in seen}
    again = grading.Options(results=course.root / "results", jobs=2)
    found = handins.find(course, course.root / "submitted")
    verdicts = grading.grade(course, found, again, lambda _: None)
    assert {v.student for v in verdicts} == set(names) and {v.run for v in verdicts} == {options.run}
    after = {v.student: (course.root / f"results/{v.student}/level-0.json").stat().st_mtime_ns for v in seen}
    assert after[seen[1].student] == before[seen[1].student], "it stood, and was left alone"
    assert after[seen[0].student] != before[seen[0].student]
    scores = {v.student: v.score for v in verdicts}
    assert scores.pop(seen[0].student) == 4.0 and set(scores.values()) == {6.0}
    # that run is through: the next begins anew
    verdicts = grading.grade(course, found, grading.Options(results=again.results, run="new"), lambda _: None)
    assert {v.run for v in verdicts} == {"new"}


def test_what_is_handed_in_while_it_watches_is_graded_once_as_it_lies_in_the_end(course: Course) -> None:
    tiny.hand_in(course, "ada", tiny.filled(course))
    options = grading.Options(results=course.root / "results", jobs=2)
    submitted = course.root / "submitted"
    seen: list[Verdict] = []
    watches: list[Watch] = []

    def begin(make: object) -> Watch:
        watches.append(Watch(found.hand_ins, lambda: handins.find(course, submitted).hand_ins, make))  # type: ignore[arg-type]
        person.start()
        return watches[0]

    def people() -> None:
        tiny.hand_in(course, "ben", tiny.filled(course, ans_0_2="pick = 'a'"))
        time.sleep(0.5)
        tiny.hand_in(course, "ben", tiny.filled(course))  # thought better of it before it lay still
        end = time.monotonic() + 60
        while len(seen) < 2 and time.monotonic() < end:
            time.sleep(0.1)
        tiny.hand_in(course, "ada", tiny.filled(course, ans_0_2="pick = 'a'"))
        while len(seen) < 3 and time.monotonic() < end:
            time.sleep(0.1)
        time.sleep(4)  # nothing more comes of it
        watches[0].stop()

    person = threading.Thread(target=people)
    found = handins.find(course, submitted)
    verdicts = grading.grade(course, found, options, seen.append, more=begin)
    person.join()
    assert [(v.student, v.score) for v in seen] == [("ada", 6.0), ("ben", 6.0), ("ada", 4.0)]
    assert [(v.student, v.score, v.status) for v in verdicts] == [
        ("ada", 4.0, Status.GRADED),
        ("ben", 6.0, Status.GRADED),
    ]


def test_a_job_is_the_same_while_hand_in_and_key_are(course: Course) -> None:
    folder = tiny.hand_in(course, "ada", tiny.filled(course))
    hand_in = HandIn("ada", course.assignment("level-0"), folder)

    def name() -> str:
        return jobs.make(course, hand_in.assignment, "ada", folder, run="r").id

    first = name()
    assert name() == first
    (folder / "helper.py").write_text("x = 1\n")
    second = name()
    (folder / "helper.py").write_text("x = 2\n")
    third = name()
    notebook = hand_in.assignment.notebook
    notebook.write_text(notebook.read_text().replace("112 GB", "113 GB"))
    assert len({first, second, third, name()}) == 4
