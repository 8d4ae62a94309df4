"""nbgrader's own commands, run as a person runs them, on a class of every kind; then the gradebook over time."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from autograder.content import Course
from autograder.engine.notebook import grade_notebook
from autograder.notebooks import gradebook
from autograder.verdict import Status, Verdict, read
from tests.notebooks import tiny

CONFIG = """
from pathlib import Path
from autograder.notebooks.config import configure
configure(get_config(), Path(__file__).resolve().parent)
"""
SCRIPT = "<script>fetch('/formgrader/api/grade')</script> [x](java&#115;cript:alert(1)) **bold** $a < b$"


def nbgrader(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    program = str(Path(sys.executable).with_name("nbgrader"))
    return subprocess.run(
        [program, *words], cwd=root, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Course]:
    """A class graded by `nbgrader autograde` and `nbgrader generate_feedback`."""
    course = tiny.lay_out(tmp_path_factory.mktemp("course") / "c")
    (course.root / "nbgrader_config.py").write_text(CONFIG)
    plain = tiny.filled(course)
    doubled = copy.deepcopy(plain)
    doubled.cells.append(copy.deepcopy(doubled.cells[tiny.at(doubled, "ex-0-1")]))
    tiny.hand_in(course, "ada", tiny.filled(course, essay_0_3=SCRIPT))
    tiny.hand_in(course, "bob", tiny.filled(course, ans_0_1="size = '104.3 GB'  # <script>alert(2)</script>"))
    tiny.hand_in(course, "cyd", b"")
    tiny.hand_in(course, "dot", doubled)
    tiny.hand_in(course, "eve", tiny.filled(course, ans_0_2="import os; os._exit(0)"))
    tiny.hand_in(course, "fay", plain, name="level-0-Copy1.ipynb")
    tiny.hand_in(course, "gus", b"\xef\xbb\xbf" + json.dumps(plain, indent=1).replace("\n", "\r\n").encode())
    tiny.hand_in(course, "hal", None)
    ran = nbgrader(course.root, "generate_assignment", "level-0", "--force")
    assert ran.returncode == 0, ran.stderr[-3000:]
    ran = nbgrader(course.root, "autograde", "level-0")
    assert ran.returncode == 0, ran.stderr[-3000:]
    ran = nbgrader(course.root, "generate_feedback", "level-0")
    assert ran.returncode == 0, ran.stderr[-3000:]
    yield course


def _verdict(course: Course, student: str) -> Verdict:
    return read(course.root / f"results/{student}/level-0.json")


def _grades(course: Course, student: str) -> dict[str, tuple[float | None, bool]]:
    with gradebook.gradebook(course.root) as book:
        notebook = book.find_submission_notebook("level-0", "level-0", student)
        return {grade.name: (grade.auto_score, grade.needs_manual_grade) for grade in notebook.grades}


def test_the_whole_class_is_graded(taught: Course) -> None:
    assert _grades(taught, "ada") == {"ex-0-1": (4, False), "ex-0-2": (2, False), "essay-0-3": (None, True)}
    assert _grades(taught, "bob") == {"ex-0-1": (2, False), "ex-0-2": (2, False), "essay-0-3": (0, False)}
    assert _grades(taught, "dot")["ex-0-1"] == (4, False)
    assert _grades(taught, "eve") == {"ex-0-1": (4, False), "ex-0-2": (0, False), "essay-0-3": (0, False)}
    assert _grades(taught, "fay")["ex-0-1"] == _grades(taught, "gus")["ex-0-1"] == (4, False)
    for nobody in ("cyd", "hal"):
        assert set(_grades(taught, nobody).values()) == {(None, True)}
    assert _verdict(taught, "cyd").status is Status.UNGRADABLE
    assert _verdict(taught, "hal").status is Status.ABSENT


def test_the_scores_are_those_of_the_engine(taught: Course) -> None:
    for student in ("ada", "bob", "eve"):
        folder = taught.root / "submitted" / student / "level-0"
        verdict, _ = grade_notebook(
            taught, taught.assignment("level-0"), student, folder, sandboxed=True, run="r"
        )
        entered = _verdict(taught, student)
        told = [(p.id, p.status, p.score, p.reason) for p in verdict.parts]
        assert told == [(p.id, p.status, p.score, p.reason) for p in entered.parts]


def test_the_export_has_everyone(taught: Course, tmp_path: Path) -> None:
    ran = nbgrader(taught.root, "export", "--to", str(tmp_path / "grades.csv"))
    assert ran.returncode == 0, ran.stderr[-2000:]
    rows = (tmp_path / "grades.csv").read_text().splitlines()
    scores = {row.split(",")[3]: row.split(",")[-2:] for row in rows[1:]}
    assert scores["ada"] == ["6.0", "9.0"] and scores["bob"] == ["4.0", "9.0"]
    assert (
        gradebook.export(taught.root, tmp_path / "own.csv").read_text()
        == (tmp_path / "grades.csv").read_text()
    )


def test_feedback_tells_reasons_and_no_key(taught: Course) -> None:
    pages = {f.parts[-3]: f.read_text() for f in taught.root.glob("feedback/*/level-0/level-0.html")}
    assert set(pages) == {"ada", "bob", "cyd", "dot", "eve", "fay", "gus", "hal"}
    assert "2^30 bytes" in pages["bob"]
    for page in pages.values():
        assert tiny.CANARY not in page and "HIDDEN" not in page and "for graders" not in page
    assert "112 GB" not in pages["bob"]
    assert "Not graded" in pages["cyd"]


def test_learner_content_is_inert_in_feedback(taught: Course) -> None:
    for student in ("ada", "bob"):
        page = (taught.root / f"feedback/{student}/level-0/level-0.html").read_text()
        assert "<script>fetch" not in page and "<script>alert" not in page
        assert 'href="java' not in page


def test_the_graded_notebook_is_for_graders(taught: Course) -> None:
    text = (taught.root / "autograded/ada/level-0/level-0.ipynb").read_text()
    assert tiny.CANARY in text and "for graders" in text
    assert "<script>" not in text.replace("&lt;script", "")


def test_releasing_feedback_survives_missing_timestamps(taught: Course) -> None:
    for student in ("ada", "hal"):
        folder = taught.root / f"feedback/{student}/level-0"
        assert (folder / "timestamp.txt").read_text().strip()
        assert (folder / "submission_secret.txt").read_text().strip()


def test_nothing_handed_in_was_touched(taught: Course) -> None:
    files = sorted(
        p.relative_to(taught.root / "submitted") for p in (taught.root / "submitted").rglob("*.ipynb")
    )
    assert len(files) == 7 and Path("fay/level-0/level-0-Copy1.ipynb") in files
    assert not (taught.root / "submitted/hal/level-0/level-0.ipynb").exists()


def test_validating_the_release_runs(taught: Course) -> None:
    """An untouched notebook fails nbgrader's Validate, and does not break it."""
    ran = nbgrader(taught.root / "exercises/level-0", "validate", "level-0.ipynb")
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "VALIDATION FAILED" in ran.stdout and "Success" not in ran.stdout


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return tiny.lay_out(tmp_path / "c")


def _grade(course: Course, student: str, **answers: str) -> Verdict:
    folder = tiny.hand_in(course, student, tiny.filled(course, **answers))
    return _grade_folder(course, student, folder)


def _grade_folder(course: Course, student: str, folder: Path) -> Verdict:
    verdict, notebook = grade_notebook(
        course, course.assignment("level-0"), student, folder, sandboxed=True, run="r"
    )
    return gradebook.record(course.root, student, "level-0", verdict, notebook)


def _by_hand(course: Course, student: str, cell: str, points: float) -> None:
    with gradebook.gradebook(course.root) as book:
        grade = book.find_grade(cell, "level-0", "level-0", student)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()


def test_a_hand_grade_is_opened_again_only_when_its_answer_changed(course: Course) -> None:
    assert _grade(course, "ada", essay_0_3="my words").score is None
    _by_hand(course, "ada", "essay-0-3", 2)
    _by_hand(course, "ada", "ex-0-2", 1)
    kept = _grade(course, "ada", essay_0_3="my words", ans_0_1="size = '1 GB'")
    assert kept.score == 2 + 2 + 2  # area, pick (the judge's own 2 stay in the verdict), essay by hand
    grades = _grades(course, "ada")
    assert not grades["essay-0-3"][1] and not grades["ex-0-2"][1]
    changed = _grade(course, "ada", essay_0_3="other words", ans_0_2="pick = 'c'")
    assert changed.score is None
    grades = _grades(course, "ada")
    assert grades["essay-0-3"][1] and grades["ex-0-2"][1]


def test_another_answer_waits_for_a_person_however_often_it_is_entered(course: Course) -> None:
    """Recording is done again after a crash: the second time must not take the old grade for one of this answer."""
    _grade(course, "ada", essay_0_3="my words")
    _by_hand(course, "ada", "essay-0-3", 2)
    for _ in range(3):
        assert _grade(course, "ada", essay_0_3="other words").score is None
        assert _grades(course, "ada")["essay-0-3"][1]
    _by_hand(course, "ada", "essay-0-3", 3)
    assert _grade(course, "ada", essay_0_3="other words").score == 9
    assert not _grades(course, "ada")["essay-0-3"][1]


def test_a_hand_grade_outlives_a_fault_of_ours(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the judge stumbled")

    _grade(course, "ada", essay_0_3="my words")
    _by_hand(course, "ada", "essay-0-3", 2)
    assert _grade(course, "ada", essay_0_3="my words").score == 8
    for words, score in (("my words", 8), ("other words", None)):
        with monkeypatch.context() as patch:
            patch.setattr("autograder.engine.notebook.judge_cell", broken)
            assert _grade(course, "ada", essay_0_3=words).status is Status.BLOCKED
        assert _grades(course, "ada")["essay-0-3"][1]
        assert _grade(course, "ada", essay_0_3=words).score == score
        assert _grades(course, "ada")["essay-0-3"][1] is (score is None)


def test_a_later_bad_hand_in_replaces_the_good_score(course: Course) -> None:
    assert _grade(course, "ada").score == 6
    folder = tiny.hand_in(course, "ada", b"{")
    assert _grade_folder(course, "ada", folder).status is Status.UNGRADABLE
    assert {score for score, _ in _grades(course, "ada").values()} == {None}
    assert _verdict(course, "ada").score is None


def test_a_changed_source_blocks_until_it_is_generated(course: Course) -> None:
    assert _grade(course, "ada").score == 6
    path = course.assignment("level-0").notebook
    own = nbformat.read(path, as_version=4)
    check = own.cells[tiny.at(own, "ex-0-2")]
    check.source = check.source.replace('"b", among', '"c", among')
    nbformat.write(own, path)
    verdict = _grade(course, "ada")
    assert verdict.status is Status.BLOCKED and "generate_assignment level-0 --force" in verdict.reason
    assert set(_grades(course, "ada").values()) == {(None, True)}
    gradebook.generate(course.root, ["level-0"])
    assert _grade(course, "ada").score == 4
    assert _grades(course, "ada")["ex-0-2"] == (0, False)


def test_an_error_of_ours_blocks_one_hand_in(course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _grade(course, "ada").score == 6
    folder = course.root / "submitted/ada/level-0"

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("the judge stumbled")

    monkeypatch.setattr("autograder.engine.notebook.judge_cell", broken)
    verdict = _grade_folder(course, "ada", folder)
    assert verdict.status is Status.BLOCKED and "the judge stumbled" in verdict.reason
    assert set(_grades(course, "ada").values()) == {(None, True)}
    assert gradebook.feedback(course.root, "ada", "level-0").exists()


def test_links_pipes_and_a_bad_timestamp_are_left_out(course: Course) -> None:
    folder = tiny.hand_in(course, "ada", tiny.filled(course))
    (folder / "data.csv").symlink_to(course.root / "gradebook.db")
    os.mkfifo(folder / "pipe")
    (folder / "timestamp.txt").write_text("some time in May")
    assert _grade_folder(course, "ada", folder).score == 6
    assert gradebook.feedback(course.root, "ada", "level-0").exists()
    copied = {p.name for p in (course.root / "autograded/ada/level-0").iterdir()}
    assert copied == {"level-0.ipynb"}


def test_no_page_of_a_learners_lies_beside_the_graded_notebook(course: Course) -> None:
    """Formgrader serves what lies there: a link in a markdown cell would open a script in the grader's session."""
    folder = tiny.hand_in(course, "ada", tiny.filled(course))
    (folder / "sub").mkdir()
    for name in (
        "a.html",
        "a.HTM",
        "a.svg",
        "sub/a.xhtml",
        "a.xml",
        "a.js",
        "a.txt",
        "a.png",
        "a.csv",
        "a.unknown",
    ):
        (folder / name).write_text("<script>alert(1)</script>")
    assert _grade_folder(course, "ada", folder).score == 6
    kept = {p.name for p in (course.root / "autograded/ada/level-0").rglob("*") if p.is_file()}
    assert kept == {"level-0.ipynb", "a.txt", "a.png", "a.csv", "a.unknown"}
