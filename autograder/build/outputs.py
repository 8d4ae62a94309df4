"""Everything the build makes, as bytes by path: nothing is written here, so checking and writing share one truth."""

from __future__ import annotations

import tempfile
from pathlib import Path

from nbformat import NotebookNode

from autograder.build import instant, lab, quiz, source
from autograder.content import Assignment, Course
from autograder.engine.notebook import keys as judged_keys
from autograder.handin.source import parse
from autograder.judge.key import Key, KeyProblem
from autograder.learner.instant import COST
from autograder.notebooks.gradebook import generate
from autograder.tomlfile import ContentError

INSTANT = "instant.json"


def outputs(course: Course, *, cost: int = COST) -> dict[str, bytes]:
    """Every built file of `course` by its path below the root; `cost` is log2 of scrypt's N in the hashes behind
    instant answers. Raises ContentError where a source is wrong.
    """
    made: dict[str, bytes] = {}
    for entry in course.labs.values():
        made[f"gpu_labs/{entry.name}/lab.py"] = lab.lab_py(entry).encode()
    for assignment in course.assignments:
        made.update(_instructor(course, assignment, made, cost))
    made.update(_released(course, made))
    return made


def keys(course: Course, assignment: Assignment, notebook: NotebookNode) -> list[Key]:
    """The keys of all check cells of an instructor notebook, in order. Raises ContentError naming the cell."""
    where = str(assignment.source)
    try:
        known = parse(assignment.name, notebook)
    except (KeyError, ValueError) as error:
        raise ContentError(f"{where}: {error}") from error
    for cell in known.graded:
        if cell.kind == "task":  # a lab's cell: here one that lost its key
            raise ContentError(
                f"{where}: {cell.grade_id}: a check cell submits, and holds a hidden-test region"
            )
    try:
        return list(judged_keys(course, known, where).values())
    except KeyProblem as error:
        raise ContentError(str(error)) from error


def instructor_notebook(course: Course, assignment: Assignment) -> NotebookNode:
    """The instructor notebook of an assignment, made from its source."""
    if assignment.kind == "lab":
        return lab.notebook(course.labs[assignment.lab or ""])
    if assignment.kind == "quiz":
        return quiz.notebook(course, assignment)
    assert assignment.source is not None
    return source.read(assignment.source, lambda ident, points: quiz.question(course.items, ident, points))


def _instructor(
    course: Course, assignment: Assignment, made: dict[str, bytes], cost: int
) -> dict[str, bytes]:
    notebook = instructor_notebook(course, assignment)
    folder = f"solutions/exercises/{assignment.name}"
    files = {f"{folder}/{assignment.name}.ipynb": source.dumps(notebook)}
    if assignment.kind == "lab":
        files[f"{folder}/lab.py"] = made[f"gpu_labs/{assignment.lab}/lab.py"]
    else:
        files[f"{folder}/{INSTANT}"] = instant.instant(
            course, assignment, keys(course, assignment, notebook), cost
        )
    if assignment.kind == "quiz" and (asked := quiz.questions(course, assignment)) is not None:
        files[f"{folder}/{quiz.QUESTIONS}"] = asked
    return files


def _released(course: Course, made: dict[str, bytes]) -> dict[str, bytes]:
    """What nbgrader's own generate_assignment releases, run in an empty folder with an empty gradebook."""
    with tempfile.TemporaryDirectory(prefix="shardlab-build-") as name:
        root = Path(name)
        for path, content in made.items():
            if path.startswith("solutions/exercises/"):
                target = root / path
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        generate(root, [assignment.name for assignment in course.assignments])
        released = sorted(p for p in (root / "exercises").rglob("*") if p.is_file())
        return {str(path.relative_to(root)): path.read_bytes() for path in released}
