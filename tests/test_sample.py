"""One class, graded end to end: the table equals the golden one, forgers get nothing, and nothing is left running."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from nbgrader.api import Gradebook

from autograder import verdict as verdicts
from autograder.content import Course
from autograder.sample.layout import layout
from autograder.tomlfile import ContentError
from autograder.verdict import PartStatus

pytestmark = pytest.mark.timeout(900)

BIN = Path(sys.executable).parent
GOLDEN = Path(__file__).parent / "golden/sample-class.csv"
BY_HAND = ("ada", "chloe", "grace", "hiro", "kofi", "lena", "noor", "oskar")


AND_WHAT_IS_LEFT = """
import subprocess, sys, psutil
from autograder.learner.box.linux import adopt_orphans
adopt_orphans()
code = subprocess.run(sys.argv[1:]).returncode
below = psutil.Process().children(recursive=True)
left = [p.name() for p in below if p.status() != psutil.STATUS_ZOMBIE]  # bubblewrap does not always bury its own
sys.exit(f"left running: {left}" if left else code)
"""
"""Runs a command and fails when one of its processes, daemons too, outlives it."""


@pytest.fixture(scope="module")
def graded(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The sample class as `make grade` leaves it."""
    folder = tmp_path_factory.mktemp("graded") / "sample-class"
    command = [sys.executable, "-c", AND_WHAT_IS_LEFT, BIN / "shardlab", "grade", "--sample", folder]
    wide = {**os.environ, "COLUMNS": "240"}
    ran = subprocess.run(command, cwd=root, env=wide, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (folder / "said.txt").write_text(ran.stdout)
    yield folder


def test_the_table_is_the_golden_one(graded: Path) -> None:
    assert (graded / "results/table.csv").read_text() == GOLDEN.read_text()


def test_it_says_where_everything_lies(graded: Path) -> None:
    said = (graded / "said.txt").read_text()
    for word in ("gradebook", "grades", "feedback", "verdicts", "ada", "16+?/18 pending"):
        assert word in said
    for made in (
        "gradebook.db",
        "results/grades.csv",
        "results/ada/level-1.json",
        "feedback/ada/level-1/level-1.html",
    ):
        assert (graded / made).is_file(), made


@pytest.mark.parametrize("student", ["grace", "hiro", "ines", "oskar"])
def test_a_forger_gets_nothing_for_what_was_forged(graded: Path, student: str) -> None:
    for path in (graded / "results" / student).glob("*.json"):
        verdict = verdicts.read(path)
        assert not verdict.score, f"{student}: {path.name}"


@pytest.mark.parametrize(
    ("student", "assignment", "misconception", "refuted"),
    [
        ("ben", "level-1", "activations-are-sharded", "activations"),
        ("chloe", "level-1", "sum-for-mean", "divides by N"),
        ("dmitri", "level-2", "gib-for-gb", "2^30"),
        ("ben", "quiz-1", "activations-are-sharded", "activations"),
    ],
)
def test_feedback_names_and_refutes_the_misconception(
    graded: Path, course: Course, student: str, assignment: str, misconception: str, refuted: str
) -> None:
    page = (graded / "feedback" / student / assignment / f"{assignment}.html").read_text(encoding="utf-8")
    assert course.misconceptions[misconception].name in page
    assert refuted in page


def test_no_feedback_page_shows_a_key(graded: Path) -> None:
    pages = list((graded / "feedback").rglob("*.html"))
    assert len(pages) > 25
    for path in pages:
        text = path.read_text(encoding="utf-8")
        for word in ("HIDDEN TESTS", "expect.quantity", "expect.function", "budget.", "wrong={"):
            # ines typed a region of her own into her cell: what she wrote she may read
            if path.parts[-3] != "ines":
                assert word not in text, f"{path} shows {word!r}"


def test_a_script_in_an_answer_is_inert(graded: Path) -> None:
    for folder in ("feedback/jonas/level-2/level-2.html", "autograded/jonas/level-2/level-2.ipynb"):
        text = (graded / folder).read_text(encoding="utf-8")
        assert "Everything is divided by N" in text, "what was written is still to be read"
    page = BeautifulSoup(
        (graded / "feedback/jonas/level-2/level-2.html").read_text(encoding="utf-8"), "html.parser"
    )
    assert not [script for script in page.find_all("script") if "formgrader" in script.get_text()]
    for element in page.find_all(True):
        assert not [name for name in element.attrs if name.startswith("on")], element
        assert not str(element.get("href", "")).startswith("javascript:"), element


def test_a_killed_kernel_costs_its_own_exercise_alone(graded: Path) -> None:
    parts = verdicts.read(graded / "results/kofi/level-1.json").parts
    by_exercise = {name: {p.status for p in parts if p.id.startswith(name)} for name in ("1.1", "1.2", "1.3")}
    assert by_exercise["1.1"] == by_exercise["1.3"] == {PartStatus.PASSED}
    assert PartStatus.CRASHED in by_exercise["1.2"]


def test_nothing_handed_in_zero_and_ungradable_are_told_apart(graded: Path) -> None:
    rows = [line.split(",") for line in (graded / "results/table.csv").read_text().splitlines()]
    found = {(row[0], row[1]): (row[2], row[3]) for row in rows}
    assert found["farid", "level-1"] == ("graded", "0")
    assert found["lena", "level-1"] == ("ungradable", "")
    assert found["pia", "level-1"] == ("absent", "")
    assert found["dmitri", "quiz-1"] == ("absent", "")


def _scores(folder: Path) -> dict[tuple[str, str], tuple[float, bool]]:
    """(student, assignment) → score and whether it waits for a person, as the gradebook has it."""
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        return {
            (s.student.id, s.assignment.name): (s.score, s.needs_manual_grade)
            for assignment in book.assignments
            for s in assignment.submissions
        }


def test_nbgrader_by_hand_gives_the_same_scores(graded: Path, course: Course, tmp_path: Path) -> None:
    folder = layout(course, tmp_path / "by-hand", learners=BY_HAND)
    environment = {**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"}

    def nbgrader(*words: str) -> None:
        ran = subprocess.run(
            [BIN / "nbgrader", *words],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, f"nbgrader {' '.join(words)}\n{ran.stdout}{ran.stderr}"

    handed_in = {path.name for path in (folder / "submitted").glob("*/*")}
    for assignment in course.assignments:
        if assignment.name not in handed_in:
            continue  # nbgrader's commands end with an error where there is nothing
        nbgrader("generate_assignment", assignment.name, "--force")
        nbgrader("autograde", assignment.name)
        nbgrader("generate_feedback", assignment.name)
    nbgrader("export", "--to", str(folder / "grades.csv"))
    expected = {key: score for key, score in _scores(graded).items() if key[0] in BY_HAND}
    assert len(expected) > 12
    assert _scores(folder) == expected
    for student, assignment in expected:
        ours = json.loads((graded / "results" / student / f"{assignment}.json").read_text())
        theirs = json.loads((folder / "results" / student / f"{assignment}.json").read_text())
        assert [(p["id"], p["status"], p["score"]) for p in theirs["parts"]] == [
            (p["id"], p["status"], p["score"]) for p in ours["parts"]
        ]


def test_laying_out_never_replaces_anything_else(course: Course, tmp_path: Path) -> None:
    (tmp_path / "precious.txt").write_text("mine")
    with pytest.raises(ContentError, match="holds something else"):
        layout(course, tmp_path)
    assert (tmp_path / "precious.txt").read_text() == "mine"
