"""Finds what a class has handed in: `submitted/<student>/<assignment>/`, the one layout."""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from pathlib import Path

from autograder.content import Assignment, Course

_STUDENT = re.compile(r"^[^./\\][^/\\]*$")


@dataclass(frozen=True)
class HandIn:
    """One folder a learner handed in for an assignment."""

    student: str
    assignment: Assignment
    folder: Path


@dataclass(frozen=True)
class Found:
    """All hand-ins of a course, the learners who handed in anything, and what was passed over, with the reason."""

    hand_ins: tuple[HandIn, ...]
    students: tuple[str, ...]
    ignored: tuple[str, ...]


def find(course: Course, submitted: Path, *, student: str = "", assignment: str = "") -> Found:
    """The hand-ins below `submitted`, by learner and in the course's order; `student` and `assignment` narrow it.
    Raises ContentError for an assignment the course does not have.
    """
    wanted = [course.assignment(assignment)] if assignment else list(course.assignments)
    known = {a.name for a in course.assignments}
    hand_ins: list[HandIn] = []
    ignored: list[str] = []
    students: list[str] = []
    for folder in sorted(submitted.iterdir()) if submitted.is_dir() else []:
        if folder.is_symlink() or not folder.is_dir() or not _STUDENT.match(folder.name):
            ignored.append(f"{folder}: not a learner's folder")
            continue
        if student and folder.name != student:
            continue
        students.append(folder.name)
        for path in sorted(folder.iterdir()):
            if path.name not in known or path.is_symlink() or not path.is_dir():
                ignored.append(f"{path}: no assignment of this course is called so")
        for one in wanted:
            path = folder / one.name
            if path.is_dir() and not path.is_symlink():
                hand_ins.append(HandIn(folder.name, one, path))
    return Found(tuple(hand_ins), tuple(students), tuple(ignored))


def new_run() -> str:
    """An id for one grading run, written into every verdict of it."""
    return uuid.uuid4().hex[:12]
