"""The content model: this checkout loads, and a mistake in any content file names file, line and field."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from autograder import course as courses
from autograder.content import Course
from autograder.tomlfile import ContentError


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    """A small copy of the checkout's content that a test may spoil."""
    made = tmp_path / "course"
    made.mkdir()
    shutil.copyfile(root / "course.toml", made / "course.toml")
    shutil.copytree(root / "quizbank", made / "quizbank")
    shutil.copytree(root / "gpu_labs", made / "gpu_labs")
    shutil.copytree(root / "solutions/notebooks", made / "solutions/notebooks")
    return made


def _spoil(path: Path, old: str, new: str) -> int:
    """Replaces the first `old` of a file and returns its line."""
    text = path.read_text(encoding="utf-8")
    assert old in text, f"{old!r} does not stand in {path}"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return text[: text.index(old)].count("\n") + 1


def test_this_course_is_whole(course: Course) -> None:
    names = [a.name for a in course.assignments]
    assert names[:4] == ["walkthrough", "level-1", "level-2", "level-3"] and "lab-ring_collectives" in names
    assert {a.kind for a in course.assignments} == {"notebook", "quiz", "lab"}
    assert all(a.title and a.source and a.source.is_file() for a in course.assignments)
    assert len(course.assignment("quiz-1").items) >= 9
    assert course.labs["ring_collectives"].tasks


def test_a_folder_below_finds_its_course(root: Path) -> None:
    assert courses.find_root(root / "tests") == root


def test_no_such_assignment_names_those_there_are(course: Course) -> None:
    with pytest.raises(ContentError, match="level-1"):
        course.assignment("level-99")


@pytest.mark.parametrize(
    ("file", "old", "new", "field"),
    [
        ("course.toml", "cell_seconds = 30.0", 'cell_seconds = "long"', "limits.cell_seconds"),
        ("course.toml", "cell_seconds", "cell_second", "limits"),
        ("course.toml", "cell_seconds = 30.0", "cell_seconds = -30.0", "limits.cell_seconds"),
        ("course.toml", "points = 1.0", "points = 0.0", "quiz[0].points"),
        ("course.toml", '"level-2"', '"level-9"', "order"),
        ("course.toml", '"sharding-basics"', '"no-such-topic"', "quiz[0].topics"),
        ("course.toml", "count = 12", "count = 999", "quiz[1].count"),
        ("course.toml", '"two-tier"', '"song"', "quiz[1].forms[0]"),
        ("course.toml", 'draw = "learner"', 'draw = "lots"', "quiz[3].draw"),
        ("course.toml", 'draw = "learner"', 'use = "graded"', "quiz[3].topics"),
        ("quizbank/decisions.toml", "share = 0.25", "share = 0.5", "item[9].rubric"),
        ("quizbank/fsdp-in-use.toml", "shown = [5", "shown = [4", "item[4].shown"),
        ("quizbank/fsdp-in-use.toml", "wrong = true", "wrong = false", "item[9].step"),
        ("quizbank/training-state.toml", "answer = ", "answers = ", "item[13]"),
        ("quizbank/sharding-basics.toml", 'id = "q002"', 'id = "q001"', "item[1].id"),
        ("quizbank/sharding-basics.toml", "right = true", "right = false", "item[0].reason"),
        ("quizbank/sharding-basics.toml", 'form = "two-tier"', 'form = "song"', "item[0].form"),
        ("quizbank/sharding-basics.toml", 'misconception = "', 'misconception = "no-such-', "item[0]"),
        ("quizbank/misconceptions.toml", "refutation = ", "refutations = ", "misconception[0]"),
        ("gpu_labs/ring_collectives/lab.toml", "\npoints = ", "\npoints = -", "task[0].points"),
        (
            "gpu_labs/ring_collectives/lab.toml",
            "explain_points = 2.0",
            "explain_points = nan",
            "explain_points",
        ),
        ("gpu_labs/ring_collectives/lab.toml", "world = ", "world = 0 # ", "task[0].case[0]"),
    ],
)
def test_a_mistake_names_file_line_and_field(copy: Path, file: str, old: str, new: str, field: str) -> None:
    line = _spoil(copy / file, old, new)
    with pytest.raises(ContentError) as raised:
        courses.load(copy)
    said = str(raised.value)
    name, number, rest = said.rsplit(file, 1)[1].split(":", 2)
    assert said.startswith(str(copy / file)) and not name
    assert f" {field}" in f" {rest.strip()}" and rest.strip().startswith(field)
    # The error points at the field's own line, or at the table that lacks it or holds too few of it, just above.
    exact = field.rpartition(".")[2].rstrip("]0123456789[") in new
    assert line <= int(number) <= line + 1 if exact else int(number) <= line <= int(number) + 40


def test_a_notebook_without_a_title(copy: Path) -> None:
    _spoil(copy / "solutions/notebooks/level-1.py", "# title:", "# subtitle:")
    with pytest.raises(ContentError, match=r"level-1\.py:1: title"):
        courses.load(copy)


def test_a_course_that_was_asked_for_is_not_replaced_by_another(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match=r"no course\.toml"):
        courses.find_root(tmp_path / "typo")


def test_no_course_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(courses, "INSTALLED", tmp_path / "a" / "b")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ContentError, match=r"no course\.toml"):
        courses.find_root()
