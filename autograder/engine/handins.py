"""Finds what a class has handed in: `submitted/<student>/<assignment>/`, the one layout."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path

from autograder.content import Assignment, Course
from autograder.handin.repair import plain
from autograder.intake import names
from autograder.intake.names import RECORDS


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
        if folder.name == RECORDS:
            continue
        if student and folder.name != student:
            continue
        if folder.is_symlink() or not folder.is_dir() or not names.is_student(folder.name):
            ignored.append(f"{submitted / plain(folder.name)}: no name of a learner, or no folder")
            continue
        try:
            inside = sorted(folder.iterdir())
            folders = {path.name for path in inside if path.is_dir() and not path.is_symlink()}
        except OSError as error:
            ignored.append(f"{folder}: cannot be read: {error.strerror}")
            continue
        students.append(folder.name)
        for path in inside:
            if path.name not in known or path.name not in folders:
                ignored.append(f"{folder / plain(path.name)}: no assignment of this course is called so")
        hand_ins += [HandIn(folder.name, one, folder / one.name) for one in wanted if one.name in folders]
    return Found(tuple(hand_ins), tuple(students), tuple(ignored))


def new_run() -> str:
    """An id for one grading run, written into every verdict of it."""
    return uuid.uuid4().hex[:12]
