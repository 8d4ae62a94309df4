"""`shardlab verify` is a proof only if it fails: on a stub that earns, a solution that does not, a wrong attempt."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

from autograder import course as courses
from autograder.build import attempts
from autograder.build.verify import Check, checks
from autograder.content import Course
from autograder.tomlfile import ContentError

LAB = "lab-ring_collectives"


def _check(root: Path, name: str) -> Check:
    (found,) = [check for check in checks(courses.load(root)) if check.name == name]
    return found


def test_every_assignment_and_attempt_is_checked(course: Course) -> None:
    names = [check.name for check in checks(course)]
    assert len(names) == len(set(names))
    for assignment in course.assignments:
        assert f"{assignment.name}: stub" in names and f"{assignment.name}: solution" in names
    for lab in course.labs.values():
        assert [f"{lab.assignment}: {path.name}" in names for path in attempts.attempts(lab)].count(
            False
        ) == 0


def test_the_quiz_holds_from_both_sides(root: Path) -> None:
    assert _check(root, "quiz-1: stub").run() == []
    assert _check(root, "quiz-1: solution").run() == []


def test_a_stub_that_earns_is_found(content: Path) -> None:
    path = content / "exercises/quiz-1/quiz-1.ipynb"
    notebook = nbformat.read(path, as_version=4)
    item = courses.load(content).items["q001"]
    cell = next(c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("grade_id") == "ans-q001")
    cell.source = f'q001 = answer(claim={item.key}, because="a")'
    nbformat.write(notebook, path)
    said = _check(content, "quiz-1: stub").run()
    assert said and all(line.startswith("q001/") for line in said)


def test_a_solution_that_is_wrong_is_found(content: Path) -> None:
    path = content / "solutions/exercises/quiz-1/quiz-1.ipynb"
    item = courses.load(content).items["q002"]
    right = f"q002 = answer(claim={item.key}"
    text = path.read_text()
    assert right in text
    path.write_text(text.replace(right, f"q002 = answer(claim={not item.key}"))
    said = _check(content, "quiz-1: solution").run()
    assert said and all(line.startswith("q002/") for line in said)


def test_an_attempt_with_the_wrong_verdict_is_found(content: Path) -> None:
    path = content / "solutions/gpu_labs/ring_collectives/attempts/wrong_gather_then_sum.py"
    first, _, rest = path.read_text().partition("\n")
    assert "ring_all_reduce=failed" in first
    changed = first.replace("ring_all_gather=passed", "ring_all_gather=failed")
    path.write_text(f"{changed}\n{rest}")
    said = _check(content, f"{LAB}: {path.name}").run()
    assert len(said) == 1 and said[0].startswith("ring_all_gather: passed, should be failed")


def test_a_lab_stub_that_is_not_a_stub_is_found(content: Path) -> None:
    shutil.copyfile(
        content / "solutions/gpu_labs/ring_collectives/solution.py",
        content / "gpu_labs/ring_collectives/lab.py",
    )
    said = _check(content, f"{LAB}: stub").run()
    assert len(said) == 3 and all("should be missing" in line for line in said)


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ("import torch", "starts with"),
        ("# expect: ring_all_gather=splendid", "is not TASK=STATUS"),
        ("# expect: ring_all_gather=failed:no-such-thing", "no misconception and no mistake"),
        ("# expect: ring_all_gather=failed", "the lab's tasks are"),
    ],
)
def test_a_wrong_first_line_is_named(content: Path, first: str, said: str) -> None:
    path = content / "solutions/gpu_labs/ring_collectives/attempts/wrong_new.py"
    path.write_text(first + "\n")
    loaded = courses.load(content)
    with pytest.raises(ContentError, match=rf"wrong_new\.py:1: .*{said}"):
        attempts.expected(loaded, loaded.labs["ring_collectives"], path)


def test_a_lab_without_attempts_is_found(content: Path) -> None:
    shutil.rmtree(content / "solutions/gpu_labs/ring_collectives/attempts")
    assert _check(content, f"{LAB}: attempts").run() == ["the lab has no attempts"]


def test_nothing_to_check_is_no_proof(tmp_path: Path) -> None:
    from autograder.report.verifying import run

    (tmp_path / "course.toml").write_text('title = "empty"\n')
    (tmp_path / "quizbank").mkdir()
    (tmp_path / "quizbank/misconceptions.toml").write_text("misconception = []\n")
    assert run(courses.load(tmp_path), jobs=1, sandboxed=True) == 1
