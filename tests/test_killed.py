"""Grader, worker or box killed at any moment: the next start goes on, the table is the same, nothing is left."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from autograder.content import Course
from autograder.engine.journal import State
from autograder.sample.layout import layout
from tests import grader

LEARNERS = (
    "emma",
    "kofi",
    "lena",
    "noor",
)  # notebooks, quizzes, a lab, one that kills its kernel: 7 hand-ins
MOMENTS = 26
"""Changes of state that grading them takes, or nearly."""


@pytest.fixture(scope="module")
def template(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return layout(course, tmp_path_factory.mktemp("killed") / "class", learners=LEARNERS)


def _kill(who: str, running: grader.Grader, chance: random.Random) -> None:
    victims = {"worker": running.workers, "box": running.boxes}
    found = victims[who]() if who in victims else []
    if who == "grader":
        running.send(signal.SIGKILL)
    elif found:
        try:
            chance.choice(found).send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            return  # it ended by itself just now


def _rounds(root: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    left = count
    while left:
        before = len(grader.changes(root))
        with grader.grading(root) as running:
            while left:
                moment = before + chance.randrange(1, MOMENTS)
                if not running.wait_for(lambda m=moment: len(grader.changes(root)) >= m):
                    break
                who = chance.choice(("grader", "grader", "worker", "box"))
                left -= 1
                _kill(who, running, chance)
                if who == "grader":
                    break
                before = moment
            status, said = running.end()
            assert status in (0, -signal.SIGKILL), said
    with grader.grading(root) as last:
        last.wait_for(lambda: False)
        status, said = last.end()
    assert status == 0, said
    assert (root / "results/table.csv").read_text() == grader.golden(LEARNERS)
    grader.check_consistent(root)


@pytest.mark.timeout(600)
def test_five_kills_change_nothing(template: Path, tmp_path: Path) -> None:
    _rounds(shutil.copytree(template, tmp_path / "class"), 5, seed=5)


@pytest.mark.soak
def test_fifty_kills_change_nothing(template: Path, tmp_path: Path) -> None:
    _rounds(shutil.copytree(template, tmp_path / "class"), 50, seed=50)


@pytest.mark.timeout(400)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_is_orderly_and_the_next_start_goes_on(template: Path, tmp_path: Path, number: int) -> None:
    root = shutil.copytree(template, tmp_path / "class")
    with grader.grading(root) as running:
        assert running.wait_for(lambda: _recorded(root))
        running.send(number)
        status, said = running.end()
    assert status == 128 + number and "run the same command again" in said
    stood = _recorded(root)
    (root / "submitted/emma/quiz-1/extra.txt").write_text("handed in again meanwhile")
    with grader.grading(root) as again:
        again.wait_for(lambda: False)
        status, said = again.end()
    assert status == 0 and "goes on with a run that did not end" in said
    assert (root / "results/table.csv").read_text() == grader.golden(LEARNERS)
    grader.check_consistent(root)
    assert len({run for run, _, _ in grader.changes(root)}) == 1 and stood < _recorded(root)


@pytest.mark.timeout(400)
def test_a_second_grader_of_the_same_course_is_told_so(template: Path, tmp_path: Path) -> None:
    root = shutil.copytree(template, tmp_path / "class")
    with grader.grading(root) as first:
        assert first.wait_for(lambda: grader.changes(root))
        with grader.grading(root) as second:
            status, said = second.end()
        assert status == 1 and f"process {first.process.pid}" in said
        first.send(signal.SIGINT)
        assert first.end()[0] == 130


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own, of 48 MiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0:
        pytest.skip("only root may mount a small disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=48m", "tmpfs", folder],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.timeout(600)
def test_a_full_disk_is_said_and_loses_nothing(template: Path, small_disk: Path) -> None:
    root = shutil.copytree(template, small_disk / "class")
    filler = small_disk / "filler"
    with grader.grading(root) as running:
        assert running.wait_for(lambda: _recorded(root))
        with pytest.raises(OSError, match="No space left"):
            filler.write_bytes(b"\1" * (64 << 20))
        status, said = running.end()
    assert status == 1 and "results cannot be written" in said and "Nothing is lost" in said, said
    assert "Traceback" not in said
    stood = _recorded(root)
    with grader.grading(root) as full:
        status, said = full.end()
    assert status == 1 and "Traceback" not in said, said
    filler.unlink()
    with grader.grading(root) as again:
        again.wait_for(lambda: False)
        status, said = again.end()
    assert status == 0, said
    assert (root / "results/table.csv").read_text() == grader.golden(LEARNERS)
    grader.check_consistent(root)
    assert stood < _recorded(root)


def _recorded(root: Path) -> set[str]:
    return {name for _, name, state in grader.changes(root) if state is State.RECORDED}
