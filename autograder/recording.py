"""Enters finished jobs: gradebook, verdict, feedback page, journal. A full disk stops it, and loses nothing."""

from __future__ import annotations

import errno
import logging
import tempfile
from dataclasses import dataclass
from pathlib import Path

from autograder.content import Assignment, Course
from autograder.durable import sync_folder
from autograder.engine import evidence
from autograder.engine.events import Unwritable
from autograder.engine.job import Job
from autograder.engine.journal import Journal, State
from autograder.engine.spool import Spool
from autograder.notebooks import gradebook
from autograder.verdict import Status, Verdict, without_score

log = logging.getLogger(__name__)

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
_FULL_WORDS = (
    "No space left on device",
    "database or disk is full",
    "Disk quota exceeded",
    "Read-only file system",
)


@dataclass(frozen=True)
class Books:
    """Where results come from and go to."""

    course: Course
    spool: Spool
    results: Path


def enter(books: Books, journal: Journal, job: Job, why: str) -> Verdict:
    """Enters the result of a job, or the verdict `blocked` where `why` says that it has none, and returns what stands.
    May be done again after a crash in the middle. What breaks here is ours, and blocks this hand-in alone. Raises
    Unwritable and JournalError: then the result stays in the spool.
    """
    entered = None
    if not why:
        try:
            entered = _entered(books, job)
        except Exception as error:
            _give_up_where_full(books, error)
            log.exception("%s/%s: grading broke", job.student, job.assignment)
            why = f"a fault of the grader, not of the hand-in: {type(error).__name__}: {error}"
    if entered is None:
        assignment = books.course.assignment(job.assignment)
        entered = unscored(books.course, job.student, assignment, Status.BLOCKED, why, job.run, job.sandboxed)
        try:
            gradebook.unscore(books.course, entered, books.results)
        except Exception as error:
            _give_up_where_full(books, error)
            raise
    sync_folder(books.results / job.student)
    sync_folder(books.results)
    journal.note(job, State.BLOCKED if why else State.RECORDED, why)
    books.spool.drop(job)
    return entered


def unscored(
    course: Course, student: str, assignment: Assignment, status: Status, why: str, run: str, sandboxed: bool
) -> Verdict:
    """A verdict that is no score, for all points of an assignment."""
    points = gradebook.max_score(course, assignment)
    made = evidence.of(course, assignment, sandboxed=sandboxed)
    return without_score(
        student, assignment.name, status, points, why, run=run, sandboxed=sandboxed, evidence=made
    )


def _entered(books: Books, job: Job) -> Verdict:
    taken = books.spool.take(job)
    if taken is None:
        raise RuntimeError("its result is not in the spool")
    root = books.course.root
    verdict = gradebook.record(root, job.student, job.assignment, *taken, results=books.results)
    gradebook.feedback(root, job.student, job.assignment)
    return verdict


def _give_up_where_full(books: Books, error: BaseException) -> None:
    """A full disk is no fault of this hand-in, nor of the next: the run stops, and goes on when there is room.
    Raises Unwritable.
    """
    full = _says_full(error)
    for folder in (books.results, books.course.root):
        full = full or _cannot_write(folder)
    if full:
        raise Unwritable(errno.ENOSPC, full) from error


def _says_full(error: BaseException | None) -> str:
    """What in an error, or in those it came from, says that the disk is full; empty where nothing does."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _FULL:
            return str(error)
        found = next((word for word in _FULL_WORDS if word in str(error)), "")
        if found:
            return found
        error = error.__cause__ or error.__context__
    return ""


def _cannot_write(folder: Path) -> str:
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"\0" * (1 << 16))
            file.flush()
    except OSError as error:
        return f"{folder} cannot be written: {error.strerror}"
    return ""
