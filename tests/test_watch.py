"""The live queue: what is handed in while it runs is graded once, when it has come to rest."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from autograder.content import Course
from autograder.engine.journal import State
from autograder.engine.watch import Watch
from autograder.verdict import read
from tests import grader
from tests.notebooks import tiny


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return tiny.lay_out(tmp_path / "c")


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def _look(watch: Watch, clock: Clock, seconds: float) -> list[str]:
    """Who is told within so many seconds."""
    told = []
    for _ in range(int(seconds)):
        clock.now += 1
        told += [hand_in.student for hand_in in watch.look()]
    return told


def test_a_hand_in_is_told_once_when_it_is_still_and_again_when_it_changed(course: Course) -> None:
    clock = Clock()
    watch = Watch(course, clock=clock)
    folder = tiny.hand_in(course, "ada", tiny.filled(course))
    for number in range(4):
        (folder / "growing.csv").write_text("1" * number)
        assert _look(watch, clock, 1) == [], "it still grows"
    assert _look(watch, clock, 10) == ["ada"]
    (folder / "timestamp.txt").write_text("2026-11-02 12:00:00 UTC")
    tiny.hand_in(course, "bob", tiny.filled(course))
    assert sorted(_look(watch, clock, 10)) == ["ada", "bob"]
    path = folder / "growing.csv"
    about = path.stat()
    path.write_text("2" * about.st_size)
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert _look(watch, clock, 10) == ["ada"], "same size and time, other bytes"
    shutil.rmtree(folder)
    assert _look(watch, clock, 5) == []
    tiny.hand_in(course, "ada", tiny.filled(course))
    assert _look(watch, clock, 10) == ["ada"]


def test_it_looks_once_a_second_however_often_it_is_asked(course: Course) -> None:
    clock = Clock()
    watch = Watch(course, clock=clock)
    tiny.hand_in(course, "ada", tiny.filled(course))
    told = []
    for _ in range(1000):
        clock.now += 0.01
        told += watch.look()
    assert len(told) == 1


@pytest.mark.timeout(600)
def test_nothing_handed_in_while_it_runs_is_missed_or_graded_twice(course: Course) -> None:
    root = course.root
    names = [f"s{number}" for number in range(4)]
    tiny.hand_in(course, "before", tiny.filled(course))
    with grader.grading(root, "--watch", "--jobs", "2") as running:
        for name in names:
            tiny.hand_in(course, name, tiny.filled(course))
            time.sleep(0.5)
        assert running.wait_for(lambda: _recorded(root) >= len(names) + 1)
        tiny.hand_in(course, "s0", tiny.filled(course, ans_0_2="pick = 'c'"))  # better thought of
        assert running.wait_for(lambda: _recorded(root) >= len(names) + 2)
        running.send(signal.SIGINT)
        status, said = running.end()
    assert status == 0, said
    assert read(root / "results/s0/level-0.json").parts[-2].score == 0
    assert _recorded(root) == len(names) + 2, "each once"
    with grader.grading(root, "--watch") as again:
        tiny.hand_in(course, "late", tiny.filled(course))
        assert again.wait_for(lambda: _recorded(root) >= len(names) + 3)
        again.send(signal.SIGTERM)
        status, said = again.end()
    assert status == 0 and _recorded(root) == len(names) + 3, said


def _recorded(root: Path) -> int:
    return sum(state is State.RECORDED for _, _, state in grader.changes(root))
