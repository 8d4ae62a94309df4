"""Proves a course from both sides: every stub earns nothing, every solution everything, every attempt its verdict.

All of it goes through the same engine that grades a class. Finding nothing to check is a failure.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from autograder.build import attempts
from autograder.content import Assignment, Course, Lab
from autograder.engine.lab import grade_lab
from autograder.engine.notebook import grade_notebook
from autograder.quiz import lint
from autograder.verdict import PartStatus, Status, Verdict


@dataclass(frozen=True)
class Check:
    """One thing to prove: `name` says which, `run` returns what is wrong with it, one sentence each."""

    name: str
    run: Callable[[], list[str]]


def checks(course: Course, *, sandboxed: bool = True) -> list[Check]:
    """All checks of a course, or of none where it has no content (a failure for who asked)."""
    found: list[Check] = []
    if course.assignments or course.items:
        found.append(Check("question bank", lambda: [str(finding) for finding in lint.lint(course)]))
    for assignment in course.assignments:
        if assignment.kind == "lab":
            found += _lab(course, course.labs[assignment.lab or ""], sandboxed)
        else:
            found.append(
                Check(f"{assignment.name}: stub", lambda a=assignment: _stub(course, a, sandboxed))  # type: ignore[misc]
            )
            found.append(
                Check(f"{assignment.name}: solution", lambda a=assignment: _solution(course, a, sandboxed))  # type: ignore[misc]
            )
    return found


def verify(course: Course, *, jobs: int, sandboxed: bool = True) -> Iterator[tuple[Check, list[str]]]:
    """Runs all checks, `jobs` at once; yields each with what is wrong with it, in order."""
    todo = checks(course, sandboxed=sandboxed)
    with ThreadPoolExecutor(jobs) as pool:
        yield from zip(todo, pool.map(lambda c: c.run(), todo), strict=True)


def _lab(course: Course, lab: Lab, sandboxed: bool) -> Iterator[Check]:
    def graded(path: Path) -> Verdict:
        return grade_lab(course, lab, "verify", path, sandboxed=sandboxed, run="verify")

    def stub() -> list[str]:
        return attempts.differences(
            {task.id: (PartStatus.MISSING, None) for task in lab.tasks}, graded(lab.folder / "lab.py")
        )

    def solution() -> list[str]:
        return attempts.differences(
            {task.id: (PartStatus.PASSED, None) for task in lab.tasks}, graded(lab.solution / "solution.py")
        )

    yield Check(f"{lab.assignment}: stub", stub)
    yield Check(f"{lab.assignment}: solution", solution)
    yield Check(f"{lab.assignment}: hints", lambda: _hints(lab))
    paths = attempts.attempts(lab)
    yield Check(f"{lab.assignment}: attempts", lambda: [] if paths else ["the lab has no attempts"])
    for path in paths:
        yield Check(
            f"{lab.assignment}: {path.name}",
            lambda path=path: attempts.differences(attempts.expected(course, lab, path), graded(path)),  # type: ignore[misc]
        )


def _hints(lab: Lab) -> list[str]:
    return [f"{task.id}: no hints" for task in lab.tasks if not task.hints]


def _stub(course: Course, assignment: Assignment, sandboxed: bool) -> list[str]:
    verdict = _graded(course, assignment, assignment.release, sandboxed)
    said = [] if verdict.parts else [f"nothing is graded: {verdict.status} {verdict.reason}"]
    for part in verdict.parts:
        if part.status is not PartStatus.MISSING or part.score:
            said.append(f"{part.id}: untouched is {part.status}, worth {part.score}: {part.reason}")
    return said


def _solution(course: Course, assignment: Assignment, sandboxed: bool) -> list[str]:
    verdict = _graded(course, assignment, assignment.notebook.parent, sandboxed)
    said = [] if verdict.parts else [f"nothing is graded: {verdict.status} {verdict.reason}"]
    if verdict.status is not Status.GRADED:
        said.append(f"the solution is {verdict.status}: {verdict.reason}")
    for part in verdict.parts:
        if part.status not in (PartStatus.PASSED, PartStatus.PENDING):
            said.append(f"{part.id}: the solution is {part.status}, worth {part.score}: {part.reason}")
    return said


def _graded(course: Course, assignment: Assignment, folder: Path, sandboxed: bool) -> Verdict:
    with tempfile.TemporaryDirectory(prefix="shardlab-verify-") as name:
        hand_in = Path(name) / assignment.name
        shutil.copytree(folder, hand_in)
        verdict, _ = grade_notebook(course, assignment, "verify", hand_in, sandboxed=sandboxed, run="verify")
        return verdict
