"""Extensions: before and after something is handed in, with nbgrader's own late penalty."""

from __future__ import annotations

import shutil
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import course as courses
from autograder.content import Course
from autograder.notebooks import extensions, gradebook
from autograder.report import extending
from autograder.sample.layout import layout
from autograder.tomlfile import ContentError
from tests import grader

DUE = datetime(2026, 1, 10, 12, 0)


@given(st.dictionaries(st.sampled_from("wdhm"), st.integers(0, 50), min_size=1))
def test_lengths_add_up(parts: dict[str, int]) -> None:
    text = "".join(f"{number}{unit}" for unit, number in parts.items())
    weeks = {"w": "weeks", "d": "days", "h": "hours", "m": "minutes"}
    assert extensions.length(text) == timedelta(**{weeks[unit]: number for unit, number in parts.items()})


@pytest.mark.parametrize("text", ["", "2", "d", "two days", "-1d", "1.5d", "2 d", "9999w", "1d junk"])
def test_what_is_no_length_is_told_with_examples(text: str) -> None:
    with pytest.raises(ContentError, match=r"write 2d, 36h|longer than ten years"):
        extensions.length(text)


@pytest.fixture(scope="module")
def graded(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """ada's hand-in of level-1, a day and a half late for a due date that the gradebook knows, with a late policy."""
    root = layout(course, tmp_path_factory.mktemp("late") / "class", learners=("ada",))
    for folder in (root / "submitted/ada").iterdir():
        if folder.name != "level-1":
            shutil.rmtree(folder)
    (root / "submitted/ada/level-1/timestamp.txt").write_text("2026-01-12 00:00:00 UTC\n")
    gradebook.generate(root, ["level-1"])
    with gradebook.gradebook(root) as book:
        book.update_or_create_assignment("level-1", duedate=DUE)
    return root


def _late(root: Path) -> float:
    """Grades, and says how many seconds late nbgrader found it."""
    with grader.grading(root) as running:
        running.wait_for(lambda: False)
        status, said = running.end()
    assert status == 0, said
    with gradebook.gradebook(root) as book:
        return float(book.find_submission("level-1", "ada").total_seconds_late)


@pytest.mark.timeout(300)
def test_an_extension_counts_before_and_after_a_hand_in(
    graded: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    course = courses.load(graded)
    assert extending.run(course, "ada", "level-1", "1d") == 0  # nothing is entered yet
    assert "handed in already" not in capsys.readouterr().out
    assert _late(graded) == timedelta(hours=12).total_seconds()
    assert extending.run(course, "ada", "level-1", "2d") == 0
    assert "shardlab grade --student ada --assignment level-1" in " ".join(capsys.readouterr().out.split())
    with gradebook.gradebook(graded) as book:
        assert book.find_submission("level-1", "ada").total_seconds_late == 0
    assert extending.run(course, "ada", "level-1", "0") == 0
    with gradebook.gradebook(graded) as book:
        assert (
            book.find_submission("level-1", "ada").total_seconds_late == timedelta(hours=36).total_seconds()
        )


# nbgrader hangs new submissions on objects SQLAlchemy has already seen, which it warns of and handles
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_without_a_due_date_nothing_breaks_and_it_is_said(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = layout(course, tmp_path / "class", learners=("ada",))
    gradebook.generate(root, ["level-1"])
    with gradebook.gradebook(root) as book:
        book.update_or_create_student("ada")
        book.update_or_create_submission("level-1", "ada", timestamp=DUE)
    assert extending.run(courses.load(root), "ada", "level-1", "3d") == 0
    assert "has no due date yet" in " ".join(capsys.readouterr().out.split())
    with gradebook.gradebook(root) as book:
        assert book.find_submission("level-1", "ada").total_seconds_late == 0


def test_wrong_use_is_told_and_the_file_stays(course: Course, tmp_path: Path) -> None:
    root = layout(course, tmp_path / "class", learners=("ada",))
    loaded = courses.load(root)
    extensions.grant(loaded, "ada", "level-2", timedelta(days=2))
    before = (root / extensions.NAME).read_bytes()
    for learner, assignment, told in (
        ("ada", "level-9", "no assignment"),
        ("../x", "level-2", "cannot be a learner"),
    ):
        with pytest.raises(ContentError, match=told):
            extensions.grant(loaded, learner, assignment, timedelta(days=1))
    assert (
        (root / extensions.NAME).read_bytes() == before == b"learner,assignment,minutes\nada,level-2,2880\n"
    )
    (root / extensions.NAME).write_text("learner,assignment,minutes\nada,level-2,soon\n")
    with pytest.raises(ContentError, match=r"extensions\.csv:2: "):
        extensions.read(root)
