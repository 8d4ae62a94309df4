"""A lab through nbgrader: the lab engine decides, the cells carry it, lab.py alone is enough."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import pytest

from autograder import course
from autograder.content import Course
from autograder.engine.notebook import grade_notebook
from autograder.notebooks import gradebook
from autograder.verdict import PartStatus, Status, read
from tests.notebooks.test_nbgrader import CONFIG, nbgrader

REPOSITORY = Path(__file__).resolve().parents[2]
NAME = "lab-ring_collectives"


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Course:
    root = tmp_path_factory.mktemp("labs") / "c"
    for folder in ("gpu_labs", "quizbank", "solutions"):
        shutil.copytree(REPOSITORY / folder, root / folder)
    shutil.copy(REPOSITORY / "course.toml", root)
    (root / "nbgrader_config.py").write_text(CONFIG)
    gradebook.generate(root, [NAME])
    made = course.load(root)
    solution = (made.labs["ring_collectives"].solution / "solution.py").read_text()
    ada = root / "submitted/ada" / NAME
    ada.mkdir(parents=True)
    (ada / "lab.py").write_text(solution + "\n# <script>alert(1)</script>\n")
    bob = root / "submitted/bob" / NAME
    shutil.copytree(root / "exercises" / NAME, bob)
    ran = nbgrader(root, "autograde", NAME)
    assert ran.returncode == 0, ran.stderr[-3000:]
    ran = nbgrader(root, "generate_feedback", NAME)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return made


def test_scores_stand_in_the_cells(taught: Course) -> None:
    ada = read(taught.root / f"results/ada/{NAME}.json")
    assert ada.status is Status.GRADED and ada.score == sum(
        t.points for t in taught.labs["ring_collectives"].tasks
    )
    assert ada.max_score == gradebook.max_score(taught, taught.assignment(NAME))
    with gradebook.gradebook(taught.root) as book:
        for student, full in (("ada", True), ("bob", False)):
            notebook = book.find_submission_notebook(NAME, NAME, student)
            grades = {g.name: g for g in notebook.grades}
            for task in taught.labs["ring_collectives"].tasks:
                grade = grades[f"task-{task.id}"]
                assert (grade.auto_score, grade.needs_manual_grade) == (task.points if full else 0, False)


def test_lab_py_is_shown_escaped_and_kept(taught: Course) -> None:
    page = (taught.root / f"feedback/ada/{NAME}/{NAME}.html").read_text()
    assert "&lt;script&gt;alert(1)" in page and "<script>alert(1)" not in page
    kept = taught.root / f"autograded/ada/{NAME}/lab.py"
    handed_in = taught.root / f"submitted/ada/{NAME}"
    assert (
        hashlib.sha256(kept.read_bytes()).digest()
        == hashlib.sha256((handed_in / "lab.py").read_bytes()).digest()
    )
    assert [p.name for p in handed_in.iterdir()] == ["lab.py"]


@pytest.mark.parametrize("notebook", ["{}", "{"])
def test_an_explanation_that_cannot_be_read_waits_for_a_person(
    taught: Course, tmp_path: Path, notebook: str
) -> None:
    shutil.copy(taught.root / f"exercises/{NAME}/lab.py", tmp_path)
    (tmp_path / f"{NAME}.ipynb").write_text(notebook)
    verdict, _ = grade_notebook(taught, taught.assignment(NAME), "cyd", tmp_path, sandboxed=True, run="r")
    essay = next(part for part in verdict.parts if part.id == "explain/essay")
    assert essay.status is PartStatus.PENDING and verdict.score is None


def test_a_notebook_without_lab_py_was_handed_in(taught: Course, tmp_path: Path) -> None:
    shutil.copy(taught.root / f"exercises/{NAME}/{NAME}.ipynb", tmp_path)
    verdict, _ = grade_notebook(taught, taught.assignment(NAME), "cyd", tmp_path, sandboxed=True, run="r")
    assert (verdict.status, verdict.score) == (Status.UNGRADABLE, None) and "lab.py" in verdict.reason
