"""The pool with real workers: whatever dies costs a try, nothing is left running, and GPUs are leased once."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import psutil
import pytest

from autograder.content import Course
from autograder.engine import job as jobs
from autograder.engine.events import Event, Unwritable
from autograder.engine.job import Job
from autograder.engine.pool import LocalPool
from autograder.engine.schedule import Gpu
from autograder.engine.spool import Spool
from tests.notebooks import tiny


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return tiny.lay_out(tmp_path / "c")


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool")


def _job(course: Course, student: str, **needs: int) -> Job:
    folder = tiny.hand_in(course, student, tiny.filled(course))
    made = jobs.make(course, course.assignment("level-0"), student, folder, sandboxed=True, run="r")
    return msgspec.structs.replace(made, needs=msgspec.structs.replace(made.needs, **needs))


def _workers() -> list[psutil.Process]:
    """The worker processes below this one."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "autograder.engine.worker" in process.cmdline():
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


class Heard:
    """What a pool told; `act` is called with each event."""

    def __init__(self, act: Callable[[Event], None] = lambda event: None) -> None:
        self.events: list[Event] = []
        self.act = act

    def __call__(self, event: Event) -> None:
        if event.kind != "tick":
            self.events.append(event)
        self.act(event)

    def of(self, kind: str) -> list[Event]:
        return [event for event in self.events if event.kind == kind]


def test_every_job_is_run_once_and_its_result_lies_in_the_spool(course: Course, spool: Spool) -> None:
    made = [_job(course, student) for student in ("ada", "bob", "cyd")]
    heard = Heard()
    LocalPool(2, gpus=()).run(made, spool, heard)
    for job in made:
        found = spool.take(job)
        assert found is not None and found[0].score == 6 and found[0].run == "r"
        kinds = [event.kind for event in heard.events if event.job == job]
        assert kinds == ["queued", "started", "finished"]
    assert {event.slot for event in heard.of("started")} <= {0, 1}
    assert not _workers()


@pytest.mark.parametrize("times", [1, 3])
def test_a_worker_that_is_killed_costs_a_try_and_the_third_blocks_the_job(
    course: Course, spool: Spool, times: int
) -> None:
    job, other = _job(course, "ada"), _job(course, "bob")
    kills = []

    def kill(event: Event) -> None:
        # at a tick, so that the worker has its job
        if (
            event.kind == "tick"
            and heard.of("started")
            and len(kills) < len(heard.of("started"))
            and len(kills) < times
        ):
            for process in _workers():
                process.send_signal(signal.SIGKILL)
                kills.append(process.pid)

    heard = Heard(kill)
    LocalPool(1, gpus=()).run([job], spool, heard)
    assert len(kills) == times
    assert len(heard.of("started")) == min(3, times + 1)
    if times < 3:
        assert spool.take(job) is not None and "SIGKILL" in heard.of("again")[0].why
    else:
        (failed,) = heard.of("failed")
        assert "killed by signal 9 (SIGKILL), 3 times" in failed.why and spool.take(job) is None
    after = Heard()
    LocalPool(1, gpus=()).run([other], spool, after)
    assert spool.take(other) is not None and not _workers()


def test_a_fault_of_a_worker_fails_its_own_job_alone(course: Course, spool: Spool) -> None:
    good = _job(course, "ada")
    bad = msgspec.structs.replace(_job(course, "bob"), assignment="level-99")
    heard = Heard()
    LocalPool(1, gpus=()).run([bad, good], spool, heard)
    (failed,) = heard.of("failed")
    assert failed.job == bad and "level-99" in failed.why
    assert [event.job for event in heard.of("finished")] == [good]


def test_what_cannot_fit_is_said_at_once(course: Course, spool: Spool) -> None:
    heard = Heard()
    wants = _job(course, "ada", gpus=2)
    LocalPool(1, gpus=(Gpu("g0"),)).run([wants, _job(course, "bob")], spool, heard)
    (failed,) = heard.of("failed")
    assert failed.job == wants
    assert failed.why == "this machine cannot run it: it needs 2 GPUs, and there is 1"
    assert len(heard.of("finished")) == 1


def test_a_job_that_never_comes_back_is_ended(
    course: Course, spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.engine.pool.WALL_FACTOR", 0.0)
    monkeypatch.setattr("autograder.engine.pool.WALL_MORE", 0.5)
    heard = Heard()
    LocalPool(1, gpus=()).run([_job(course, "ada")], spool, heard)
    (failed,) = heard.of("failed")
    assert "far longer" in failed.why and not _workers()


def test_whatever_stops_it_leaves_no_process(course: Course, spool: Spool) -> None:
    class Enough(Exception):
        pass

    def stop(event: Event) -> None:
        if event.kind == "tick" and any(
            "bwrap" in p.name() for p in psutil.Process().children(recursive=True)
        ):
            raise Enough

    with pytest.raises(Enough):
        LocalPool(2, gpus=()).run([_job(course, s) for s in ("ada", "bob")], spool, Heard(stop))
    left = [p.name() for p in psutil.Process().children(recursive=True) if p.status() != psutil.STATUS_ZOMBIE]
    assert left == []


def test_a_spool_that_cannot_be_written_stops_the_run(course: Course, spool: Spool) -> None:
    spool.folder.rmdir()
    spool.folder.write_text("no folder")
    with pytest.raises(Unwritable, match="spool"):
        LocalPool(1, gpus=()).run([_job(course, "ada")], spool, Heard())
    assert not _workers()


def test_jobs_that_come_while_it_runs_are_run_and_newer_ones_replace_older(
    course: Course, spool: Spool
) -> None:
    first, old = _job(course, "ada"), _job(course, "bob")
    tiny.hand_in(course, "bob", tiny.filled(course, ans_0_2="pick = 'c'"))
    folder = course.root / "submitted/bob/level-0"
    new = jobs.make(course, course.assignment("level-0"), "bob", folder, sandboxed=True, run="r")
    assert new.id != old.id
    coming = [[first, old], [new], []]
    heard = Heard()
    LocalPool(1, gpus=()).run([], spool, heard, lambda: coming.pop(0) if coming else None)
    (replaced,) = heard.of("replaced")
    assert replaced.job == old and replaced.by == new
    assert {event.job.student for event in heard.of("finished") if event.job} == {"ada", "bob"}
    found = spool.take(new)
    assert found is not None and found[0].score == 4 and spool.take(old) is None


def test_gpus_are_leased_once_and_one_that_fails_its_check_is_left_out(course: Course, spool: Spool) -> None:
    gpus = (Gpu("g0", "a"), Gpu("g1", "a"))
    made = [_job(course, student, gpus=1) for student in ("ada", "bob", "cyd")]
    killed: list[int] = []
    checked: list[Gpu] = []

    def health(gpu: Gpu) -> str:
        checked.append(gpu)
        return "it adds up wrongly"

    def kill(event: Event) -> None:
        if event.kind == "tick" and not killed and _workers():
            victim = _workers()[0]
            killed.append(victim.pid)
            victim.send_signal(signal.SIGKILL)

    heard = Heard(kill)
    LocalPool(2, gpus=gpus, health=health).run(made, spool, heard)
    assert len(checked) == 1 and all(spool.take(job) is not None for job in made)
    (word,) = heard.of("word")
    assert checked[0].id in word.why and "left out from here on: it adds up wrongly" in word.why


POOL = """
import sys
from pathlib import Path
import msgspec
from autograder.engine.job import Job
from autograder.engine.pool import LocalPool
from autograder.engine.spool import Spool
jobs = msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=list[Job])
LocalPool(2, gpus=()).run(jobs, Spool(Path(sys.argv[2])), lambda event: print(event.kind, flush=True))
"""


def test_workers_and_boxes_do_not_outlive_a_pool_that_is_killed(
    course: Course, spool: Spool, tmp_path: Path
) -> None:
    made = [_job(course, student) for student in ("ada", "bob")]
    (tmp_path / "jobs.json").write_bytes(msgspec.json.encode(made))
    command = [sys.executable, "-c", POOL, tmp_path / "jobs.json", spool.folder]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    below: dict[int, psutil.Process] = {}
    for line in process.stdout:
        if line.strip() == "tick":
            below |= {p.pid: p for p in psutil.Process(process.pid).children(recursive=True)}
            if any("bwrap" in p.name() for p in below.values() if p.is_running()):
                break
    process.kill()
    process.wait()
    process.stdout.close()
    gone, left = psutil.wait_procs(list(below.values()), timeout=60)
    assert gone and not [p for p in left if p.status() != psutil.STATUS_ZOMBIE]


def test_needs_of_a_job_bound_how_many_run_at_once(course: Course, spool: Spool) -> None:
    made = [_job(course, student, memory_mib=600) for student in ("ada", "bob", "cyd")]
    most, running = 0, set()

    def count(event: Event) -> None:
        nonlocal most
        if event.kind == "started" and event.job:
            running.add(event.job.id)
        elif event.kind == "finished" and event.job:
            running.discard(event.job.id)
        most = max(most, len(running))

    LocalPool(3, memory_mib=1000, gpus=()).run(made, spool, Heard(count))
    assert most == 1 and all(spool.take(job) is not None for job in made)


def test_a_worker_reads_what_it_is_sent_and_ends_with_its_pool(tmp_path: Path) -> None:
    """Its channel closed, a worker ends although its parent lives."""
    ours, theirs = socket.socketpair()
    argv = [
        sys.executable,
        "-m",
        "autograder.engine.worker",
        "--slot",
        "0",
        "--channel",
        str(theirs.fileno()),
    ]
    process = subprocess.Popen([*argv, "--parent", str(os.getpid())], pass_fds=[theirs.fileno()])
    theirs.close()
    ours.close()
    assert process.wait(60) in (0, -signal.SIGKILL)
