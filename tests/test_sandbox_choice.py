"""Grading without a box: refused with the reason and the fix; with --no-sandbox done, and said in every verdict."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder import verdict as verdicts
from autograder.content import Course
from autograder.sample.layout import layout
from autograder.verdict import Status

BIN = Path(sys.executable).parent


@pytest.fixture
def sample(course: Course, tmp_path: Path) -> Path:
    """A class of one, with a quiz and an unreadable notebook."""
    return layout(course, tmp_path / "class", learners=("lena",))


def _grade(folder: Path, *words: str, path: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BIN / "shardlab", "grade", "--course", folder, *words],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_where_no_box_can_be_made_nothing_is_graded(sample: Path, tmp_path: Path) -> None:
    broken = tmp_path / "bin"
    broken.mkdir()
    (broken / "bwrap").write_text("#!/bin/sh\necho 'setting up uid map: Permission denied' >&2\nexit 1\n")
    (broken / "bwrap").chmod(0o755)
    ran = _grade(sample, path=f"{broken}:{os.environ['PATH']}")
    said = " ".join(ran.stdout.split())
    assert ran.returncode == 1
    assert "setting up uid map: Permission denied" in said and "--no-sandbox" in said
    assert not list((sample / "results").glob("*/*.json"))


def test_no_sandbox_is_said_in_every_verdict(sample: Path) -> None:
    ran = _grade(sample, "--no-sandbox", path=os.environ["PATH"])
    assert ran.returncode == 0, ran.stdout + ran.stderr
    quiz = verdicts.read(sample / "results/lena/quiz-1.json")
    unreadable = verdicts.read(sample / "results/lena/level-1.json")
    assert (quiz.status, quiz.score, quiz.sandboxed) == (Status.GRADED, 10.0, False)
    assert (unreadable.status, unreadable.sandboxed) == (Status.UNGRADABLE, False)
    assert "without a sandbox" in ran.stdout
