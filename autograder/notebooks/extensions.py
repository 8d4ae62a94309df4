"""Extensions of due dates. nbgrader keeps one with a hand-in, so there is none to keep it with before something is
handed in; here they stand in a file of the course, and go into the gradebook whenever a hand-in is entered.
"""

from __future__ import annotations

import csv
import io
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry

from autograder import durable
from autograder.content import Course
from autograder.intake.names import is_student
from autograder.tomlfile import ContentError

NAME = "extensions.csv"
_COLUMNS = ("learner", "assignment", "minutes")
_UNITS = {"w": 7 * 24 * 60, "d": 24 * 60, "h": 60, "m": 1}
_LENGTH = re.compile(r"(?:\d+[wdhm])+")
_LONGEST = timedelta(days=3650)


def length(text: str) -> timedelta:
    """What "2d", "36h" or "1d12h" says; "0" is none. Raises ContentError."""
    if text.strip() == "0":
        return timedelta(0)
    if not _LENGTH.fullmatch(text.strip()):
        raise ContentError(
            f"{text!r} is no length of time: write 2d, 36h, 90m, 1w, 1d12h, or 0 to take one back"
        )
    minutes = sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)([wdhm])", text))
    if minutes > _LONGEST.total_seconds() / 60:
        raise ContentError(f"{text!r} is longer than ten years")
    return timedelta(minutes=minutes)


def read(root: Path) -> dict[tuple[str, str], timedelta]:
    """(learner, assignment) → extension, of the course at `root`. Raises ContentError with the line that is wrong."""
    path = root / NAME
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ContentError(f"{path}: cannot be read as UTF-8 text: {error}") from None
    rows = csv.DictReader(io.StringIO(text, newline=""))
    if tuple(rows.fieldnames or ()) != _COLUMNS:
        raise ContentError(f"{path}:1: the columns are {','.join(_COLUMNS)}")
    found = {}
    for row in rows:
        minutes = row["minutes"] or ""
        if not (row["learner"] and row["assignment"] and minutes.isdecimal() and len(minutes) < 8):
            raise ContentError(
                f"{path}:{rows.line_num}: a learner, an assignment and a whole number of minutes"
            )
        found[row["learner"], row["assignment"]] = timedelta(minutes=int(minutes))
    return found


def grant(course: Course, learner: str, assignment: str, more: timedelta) -> None:
    """Gives a learner so much longer for an assignment, in the place of any extension before; none takes it back.
    Raises ContentError for an assignment or a learner there cannot be.
    """
    course.assignment(assignment)
    if not is_student(learner):
        raise ContentError(f"{learner!r} cannot be a learner's id")
    known = read(course.root)
    known.pop((learner, assignment), None)
    if more:
        known[learner, assignment] = more
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for (who, what), length_of in sorted(known.items()):
        writer.writerow([who, what, int(length_of.total_seconds() // 60)])
    durable.write(course.root / NAME, out.getvalue().encode())


def enter(gradebook: Gradebook, root: Path, learner: str, assignment: str) -> bool:
    """Sets the extension of a hand-in in the gradebook to what the course's file says; whether there is such a hand-in.
    Where the assignment has no due date there is nothing to extend, and nbgrader could not add to it.
    """
    try:
        submission = gradebook.find_submission(assignment, learner)
    except MissingEntry:
        return False
    more = read(root).get((learner, assignment))
    extension: Any = more if submission.assignment.duedate is not None else None
    submission.extension = extension
    gradebook.db.commit()
    return True


def has_due_date(gradebook: Gradebook, assignment: str) -> bool:
    """Whether the gradebook knows when an assignment is due."""
    try:
        return gradebook.find_assignment(assignment).duedate is not None
    except MissingEntry:
        return False
