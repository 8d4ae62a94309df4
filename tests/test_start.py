"""`shardlab start`: a working copy that is the learner's own, and stays so."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.content import Course
from autograder.start import start
from autograder.tomlfile import ContentError


def test_a_working_copy_has_every_assignment(course: Course, tmp_path: Path) -> None:
    added = start(course, tmp_path / "mine")
    for assignment in course.assignments:
        assert f"{assignment.name}/{assignment.name}.ipynb" in added
    assert (tmp_path / "mine/lab-ring_collectives/run.py").is_file()
    assert not list(tmp_path.rglob("checks.py")), "the judge's side of a lab is not for learners"


def test_started_again_keeps_what_the_learner_wrote(course: Course, tmp_path: Path) -> None:
    start(course, tmp_path)
    mine = tmp_path / "level-1/level-1.ipynb"
    mine.write_text("my work")
    (tmp_path / "level-2/level-2.ipynb").unlink()
    assert start(course, tmp_path) == ["level-2/level-2.ipynb"]
    assert mine.read_text() == "my work"


def test_never_into_the_course_itself(course: Course) -> None:
    with pytest.raises(ContentError, match="this is the course itself"):
        start(course, course.root)
