"""A class over time: hand-ins that vanish, folders with odd names, and what cannot be read. Nothing stale is left."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import nbformat
import pytest
from rich.console import Console

from autograder import grading
from autograder.content import Course
from autograder.engine import handins
from autograder.handin import preflight, source
from autograder.notebooks import gradebook
from autograder.notebooks.gradebook import BookkeepingError
from autograder.report.progress import Board
from autograder.verdict import Status, Verdict, read
from tests.notebooks import tiny


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return tiny.lay_out(tmp_path / "c")


def _grade(course: Course) -> list[Verdict]:
    """The whole class, as `shardlab grade` does it."""
    found = handins.find(course, course.root / "submitted")
    options = grading.Options(results=course.root / "results", jobs=2)
    verdicts = grading.grade(course, found, options, lambda _: None)
    return verdicts + grading.absent(course, found, list(course.assignments), options)


def _scores(course: Course, student: str) -> set[tuple[float | None, bool]]:
    with gradebook.gradebook(course.root) as book:
        notebook = book.find_submission_notebook("level-0", "level-0", student)
        return {(grade.auto_score, grade.needs_manual_grade) for grade in notebook.grades}


def test_a_hand_in_that_is_there_no_more_leaves_no_score(course: Course) -> None:
    folder = tiny.hand_in(course, "ada", tiny.filled(course))
    (graded,) = _grade(course)
    page = course.root / "feedback/ada/level-0/level-0.html"
    assert graded.score == 6 and page.exists()
    shutil.rmtree(folder)
    (absent,) = _grade(course)
    assert absent.status is Status.ABSENT and absent.run
    assert read(course.root / "results/ada/level-0.json") == absent
    assert _scores(course, "ada") == {(None, True)}
    assert not page.exists()


def test_names_of_many_kinds_are_names(course: Course) -> None:
    names = ["ada@example.org", "b+c", "d e", "o'neil", "ö", "中"]
    for name in names:
        tiny.hand_in(course, name, tiny.filled(course))
    assert [(v.student, v.score) for v in _grade(course)] == [(name, 6) for name in names]
    for name in names:
        assert (course.root / "feedback" / name / "level-0/level-0.html").exists()
        assert read(course.root / "results" / name / "level-0.json").status is Status.GRADED


def test_folders_nobody_can_be_called_are_passed_over_and_told(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    submitted = course.root / "submitted"
    tiny.hand_in(course, "ada", tiny.filled(course))
    for name in (
        b"\xff",
        b"a\nb",
        b".hidden",
        b"shut",
        b"a*",
        b"[ada]",
        b"what?",
        b"ada ",
        b"=1+1",
        b"grades.csv",
    ):
        (submitted / os.fsdecode(name)).mkdir()
    looked = Path.iterdir

    def iterdir(path: Path) -> object:
        if path.name == "shut":
            raise PermissionError(13, "Permission denied")
        return looked(path)

    monkeypatch.setattr(Path, "iterdir", iterdir)
    found = handins.find(course, submitted)
    assert found.students == ("ada",) and len(found.ignored) == 10
    assert all(line.isprintable() and line.encode() for line in found.ignored)
    assert any("Permission denied" in line for line in found.ignored)


def test_a_file_of_any_name_that_cannot_be_copied_is_left_out_and_told(
    course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny.hand_in(course, "ada", tiny.filled(course))
    (folder / os.fsdecode(b"bad\xff\nname")).symlink_to("/nowhere")
    (folder / "secret.csv").write_text("x")
    copied = shutil.copyfile

    def copyfile(path: Path, *more: object, **named: object) -> object:
        if Path(path).name == "secret.csv":
            raise PermissionError(13, "Permission denied")
        return copied(path, *more, **named)  # type: ignore[arg-type]

    (tmp_path / "box").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "copyfile", copyfile)
        notes = preflight.copy_files(folder, tmp_path / "box")
    assert len(notes) == 2 and "secret.csv was left out: Permission denied" in notes[1]
    (verdict,) = _grade(course)
    assert verdict.score == 6 and any("bad" in note for note in verdict.notes)


def test_folders_nested_without_end_cost_nobody_anything(
    course: Course, request: pytest.FixtureRequest
) -> None:
    tiny.nest(tiny.hand_in(course, "ada", tiny.filled(course)), request)
    tiny.nest(tiny.hand_in(course, "bob", None), request)
    tiny.hand_in(course, "cyd", tiny.filled(course))
    ada, bob, cyd = _grade(course)
    assert (ada.status, ada.score, cyd.score) == (Status.GRADED, 6, 6)
    assert any("nested too deep" in note for note in ada.notes)
    assert bob.status is Status.UNGRADABLE and "no notebook" in bob.reason


def test_a_folder_that_cannot_be_read_has_a_reason(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tiny.hand_in(course, "ada", None)

    def shut(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", shut)
    prepared = preflight.prepare(folder, source.read(course.assignment("level-0").notebook))
    assert "Permission denied" in prepared.problem and not prepared.absent


def test_a_fault_in_keeping_the_books_blocks_one_hand_in_and_says_why(
    course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    for student in ("ada", "bob"):
        tiny.hand_in(course, student, tiny.filled(course))
    assert [v.score for v in _grade(course)] == [6, 6]

    def broken(self: object, nb: object, resources: dict[str, dict[str, str]]) -> object:
        if resources["nbgrader"]["student"] == "ada":
            raise LookupError("no such row\n  in line 1\n^")
        return nb, resources

    monkeypatch.setattr("nbgrader.preprocessors.AssignLatePenalties.preprocess", broken)
    ada, bob = _grade(course)
    assert ada.status is Status.BLOCKED and ada.reason.endswith("LookupError: no such row")
    assert bob.score == 6
    assert read(course.root / "results/ada/level-0.json").status is Status.BLOCKED
    assert _scores(course, "ada") == {(None, True)}
    assert not (course.root / "feedback/ada/level-0/level-0.html").exists()


def test_what_a_reason_says_is_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    """Square brackets in a learner's words must not end the batch, as markup that does not close would."""
    words = "KeyError: [/b] [red]x"
    verdict = Verdict(
        student="a[", assignment="b]", status=Status.BLOCKED, score=None, max_score=1, reason=words
    )
    with Board(Console(width=200), 1) as board:
        board.done(verdict)
    assert words in capsys.readouterr().out


def test_cells_that_come_or_go_under_hand_ins_are_refused_and_the_release_stays(course: Course) -> None:
    folder = tiny.hand_in(course, "ada", tiny.filled(course))
    _grade(course)
    path = course.assignment("level-0").notebook
    notebook = nbformat.read(path, as_version=4)
    del notebook.cells[tiny.at(notebook, "ex-0-2")]
    notebook.cells[tiny.at(notebook, "ro-setup")].metadata.nbgrader.update(grade=True, points=1)
    nbformat.write(notebook, path)
    with pytest.raises(BookkeepingError, match="ex-0-2, ro-setup"):
        gradebook.generate(course.root, ["level-0"])
    assert (course.assignment("level-0").release / "level-0.ipynb").is_file()
    assert folder.is_dir() and _scores(course, "ada") == {(4, False), (2, False), (0, False)}
