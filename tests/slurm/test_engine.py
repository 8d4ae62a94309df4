"""The engine on a real Slurm of two nodes: hand-ins of a tiny course, through what happens to jobs and daemons."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from autograder import content
from autograder.content import Course
from autograder.engine import handins
from autograder.engine import job as jobs
from autograder.engine.job import Job
from autograder.engine.pool import Event
from autograder.engine.slurm.runner import SlurmEngine
from autograder.engine.spool import Spool
from tests.notebooks import tiny
from tests.slurm.cluster import Cluster


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return tiny.lay_out(tmp_path / "c")


def _jobs(course: Course, names: list[str], **needs: object) -> list[Job]:
    for name in names:
        tiny.hand_in(course, name, tiny.filled(course))
    found = handins.find(course, course.root / "submitted").hand_ins
    run = f"r{time.time_ns():x}"
    made = [jobs.make(course, h.assignment, h.student, h.folder, sandboxed=True, run=run) for h in found]
    return [msgspec.structs.replace(j, needs=msgspec.structs.replace(j.needs, **needs)) for j in made]  # type: ignore[arg-type]


class Run:
    """One run of an engine in a thread, and what it told."""

    def __init__(self, folder: Path, todo: list[Job], **how: object) -> None:
        settings = {"poll_seconds": 0.5, "chunk_jobs": 8, "cores": 2, **how}
        self.told: list[Event] = []
        self.said: list[str] = []
        self.spool = Spool(folder / "spool")
        self.engine = SlurmEngine(content.Slurm(**settings), folder / ".slurm")  # type: ignore[arg-type]
        self.given_up = threading.Event()
        self.errors: list[BaseException] = []
        self.todo, self.folder = todo, folder / ".slurm"
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            self.engine.run(self.todo, self.spool, self._hear)
        except BaseException as error:
            self.errors.append(error)

    def _hear(self, event: Event) -> None:
        if self.given_up.is_set():
            raise KeyboardInterrupt
        if event.kind == "word":
            self.said.append(event.why)
        elif event.kind in ("finished", "failed"):
            self.told.append(event)

    def ids(self) -> list[str]:
        """The Slurm ids of the chunks there are."""
        return [path.read_text() for path in sorted(self.folder.glob("*/id"))]

    def wait(self, true: Callable[[], object]) -> None:
        end = time.monotonic() + 100
        while not true():
            assert time.monotonic() < end and self.thread.is_alive(), (self.told, self.said, self.errors)
            time.sleep(0.1)

    def end(self) -> dict[str, object]:
        """Waits for the end; what became of each learner: a score, or why there is none."""
        self.thread.join(150)
        alive = self.thread.is_alive()
        self.given_up.set()
        self.thread.join(30)
        assert not alive, (self.told, self.said)
        assert not self.errors, self.errors
        assert not list(self.folder.glob("*")), "a chunk's folder goes when the chunk does"
        last = {event.job.id: event for event in self.told if event.job}
        ends = [event.job.id for event in self.told if event.job]
        assert len(ends) == len(set(ends)) == len(self.todo), "each is told of once"
        become: dict[str, object] = {}
        for job in self.todo:
            found = self.spool.take(job)
            become[job.student] = found[0].score if found else last[job.id].why
        return become


@pytest.mark.slurm
def test_a_run_that_is_stopped_cancels_its_jobs(cluster: Cluster, course: Course, tmp_path: Path) -> None:
    run = Run(tmp_path, _jobs(course, ["ada", "ben"], memory_mib=512))
    run.wait(run.ids)
    (number,) = run.ids()
    run.given_up.set()
    run.thread.join(60)
    assert isinstance(run.errors[0], KeyboardInterrupt) and not list(run.folder.glob("*"))
    end = time.monotonic() + 60
    while "JobState=CANCELLED" not in (said := cluster.ask("scontrol", "-o", "show", "job", number)):
        assert time.monotonic() < end, said
        time.sleep(0.2)


def _running(cluster: Cluster, run: Run) -> Callable[[], bool]:
    def true() -> bool:
        ids = run.ids()
        return bool(ids) and "JobState=RUNNING" in cluster.ask("scontrol", "-o", "show", "job", ids[0])

    return true


def _times(cluster: Cluster, number: str) -> tuple[str, str]:
    said = cluster.ask("scontrol", "-o", "show", "job", number)
    fields = dict(word.partition("=")[::2] for word in said.split())
    return fields["StartTime"], fields["EndTime"]


@pytest.mark.slurm
def test_two_and_three_of_four_gpus_wait_for_each_other(
    cluster: Cluster, course: Course, tmp_path: Path
) -> None:
    first, second = _jobs(course, ["ada", "ben"], memory_mib=512)
    two = msgspec.structs.replace(first, needs=msgspec.structs.replace(first.needs, gpus=2))
    three = msgspec.structs.replace(second, needs=msgspec.structs.replace(second.needs, gpus=3))
    run = Run(tmp_path, [two, three])
    run.wait(lambda: len(run.ids()) == 2)
    ids = run.ids()
    assert set(run.end().values()) == {6.0}
    (begun, ended), (begun_too, ended_too) = sorted(_times(cluster, number) for number in ids)
    assert begun < ended <= begun_too < ended_too


@pytest.mark.slurm
def test_what_somebody_cancels_and_what_was_on_a_node_that_fails_is_submitted_again(
    cluster: Cluster, course: Course, tmp_path: Path
) -> None:
    run = Run(tmp_path, _jobs(course, ["ada", "ben", "chloe"], memory_mib=512))
    run.wait(_running(cluster, run))
    (first,) = run.ids()
    cluster.ask("scancel", first)
    run.wait(lambda: run.ids() not in ([], [first]))
    run.wait(_running(cluster, run))
    said = cluster.ask("scontrol", "-o", "show", "job", run.ids()[0])
    node = dict(word.partition("=")[::2] for word in said.split())["NodeList"]
    cluster.ask("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=test")
    try:
        assert set(run.end().values()) == {6.0}
    finally:
        cluster.until_ready()
    assert "cancelled; submitted again (1 of 2)" in run.said[0]
    assert "the node of its allocation failed; submitted again (2 of 2)" in run.said[1]


@pytest.mark.slurm
def test_what_is_cancelled_again_and_again_waits_for_a_person(
    cluster: Cluster, course: Course, tmp_path: Path
) -> None:
    run = Run(tmp_path, _jobs(course, ["ada"], memory_mib=512), resubmits=1)
    run.wait(run.ids)
    first = run.ids()
    cluster.ask("scancel", *first)
    run.wait(lambda: run.ids() not in ([], first))
    cluster.ask("scancel", *run.ids())
    why = run.end()["ada"]
    assert isinstance(why, str) and "its allocation was cancelled, and so 2 times" in why


@pytest.mark.slurm
def test_a_chunk_out_of_memory_goes_on_one_a_job_and_then_waits_for_a_person(
    cluster: Cluster, course: Course, tmp_path: Path
) -> None:
    run = Run(tmp_path, _jobs(course, ["ada", "ben"]), extra=("--mem=20M",))
    whys = run.end()
    assert all("memory limit was reached while it was alone in it" in str(why) for why in whys.values()), whys
    assert "ran out of memory: its 2 hand-ins left go on one a job" in run.said[0]


@pytest.mark.timeout(400)
@pytest.mark.slurm
def test_a_time_limit_ends_as_a_limit_of_the_machine(
    cluster: Cluster, course: Course, tmp_path: Path
) -> None:
    todo = _jobs(course, ["ada"], memory_mib=512)
    waiting = f"import time; time.sleep(300)  # {os.getpid()}"
    toml = course.root / "course.toml"
    toml.write_text(toml.read_text().replace("= 3.0", "= 300.0").replace("= 40.0", "= 400.0"))
    tiny.hand_in(course, "ada", tiny.filled(course, ans_0_2=waiting))
    run = Run(tmp_path, todo, extra=("--time=1",))
    run.thread.join(300)
    assert "time limit was reached while it was alone in it" in str(run.end()["ada"])


def _disturbed(cluster: Cluster, course: Course, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    run = Run(tmp_path / str(seed), _jobs(course, ["ada", "ben", "chloe"], memory_mib=512), chunk_jobs=1)
    try:
        time.sleep(chance.uniform(0, 4))
        names = chance.sample(["slurmctld", *cluster.nodes], chance.randint(1, 3))
        for name in names:
            cluster.kill(name)
        time.sleep(chance.uniform(0, 2))
    finally:
        for name in {"slurmctld", *cluster.nodes} - set(cluster.daemons):
            cluster.start(name)
        cluster.until_ready()
    assert set(run.end().values()) == {6.0}, names


@pytest.mark.timeout(400)
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.slurm
def test_daemons_killed_at_any_moment_change_nothing(
    cluster: Cluster, course: Course, tmp_path: Path, seed: int
) -> None:
    _disturbed(cluster, course, tmp_path, seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(100, 150))
@pytest.mark.slurm
def test_daemons_killed_at_fifty_moments_change_nothing(
    cluster: Cluster, course: Course, tmp_path: Path, seed: int
) -> None:
    _disturbed(cluster, course, tmp_path, seed)


def _grade(course: Course, engine: str) -> subprocess.Popen[str]:
    words = ["-c", "from autograder.cli import main; main()", "grade", "--engine", engine, "--course"]
    return subprocess.Popen(
        [sys.executable, *words, str(course.root)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.slurm
def test_a_killed_grader_finds_its_jobs_again_and_the_table_is_that_of_this_machine(
    cluster: Cluster, course: Course
) -> None:
    toml = course.root / "course.toml"
    toml.write_text(toml.read_text() + "\n[engine.slurm]\npoll_seconds = 0.5\ncores = 2\n")
    tiny.hand_in(course, "ada", tiny.filled(course))
    tiny.hand_in(course, "ben", tiny.filled(course, ans_0_2="pick = 'a'"))
    tiny.hand_in(course, "chloe", tiny.filled(course, ans_0_2="while True: pass"))
    folder = course.root / "results/.slurm"
    before = cluster.ask("squeue", "--states=all", "--noheader", "--format=%i")
    with _grade(course, "slurm") as first:
        end = time.monotonic() + 60
        while not list(folder.glob("*/id")) and first.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        first.send_signal(signal.SIGKILL)
    (noted,) = folder.glob("*/id")
    noted.unlink()  # as if it had been killed between sbatch and the note
    with _grade(course, "slurm") as second:
        said, _ = second.communicate(timeout=150)
    assert second.returncode == 0, said
    new = set(cluster.ask("squeue", "--states=all", "--noheader", "--format=%i").split()) - set(
        before.split()
    )
    assert len(new) == 1, "nothing is submitted twice"
    table = (course.root / "results/table.csv").read_text()
    verdict = json.loads((course.root / "results/ada/level-0.json").read_text())
    assert verdict["engine"] == "slurm" and not list(folder.glob("*"))
    with _grade(course, "local") as third:
        said, _ = third.communicate(timeout=150)
    assert third.returncode == 0, said
    assert (course.root / "results/table.csv").read_text() == table and "ada" in table


def test_without_slurm_it_says_what_to_do(
    course: Course, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tiny.hand_in(course, "ada", tiny.filled(course))
    bubblewrap = shutil.which("bwrap")
    if bubblewrap:
        (tmp_path / "bwrap").symlink_to(bubblewrap)
    monkeypatch.setenv("PATH", str(tmp_path))
    with _grade(course, "slurm") as grader:
        said, _ = grader.communicate(timeout=60)
    assert grader.returncode == 1 and "sbatch is not on this machine's PATH" in said.replace("\n", " ")
