"""Grades a class: hand-ins side by side in boxes, nbgrader as the book-keeper, one verdict each whatever happens."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from autograder.content import Assignment, Course
from autograder.engine import evidence
from autograder.engine.handins import Found, HandIn, new_run
from autograder.engine.notebook import grade_notebook
from autograder.notebooks import gradebook
from autograder.sandbox import bwrap
from autograder.verdict import Status, Verdict, without_score

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Options:
    """How to grade: `jobs` hand-ins at once (0: one for each core), in boxes or not, verdicts to `results`."""

    results: Path
    jobs: int = 0
    sandboxed: bool = True
    run: str = field(default_factory=new_run)

    @property
    def workers(self) -> int:
        """The number of hand-ins graded at once."""
        return self.jobs or os.cpu_count() or 1


def grade(course: Course, found: Found, options: Options, done: Callable[[Verdict], None]) -> list[Verdict]:
    """Grades every hand-in of `found`, enters it in the gradebook, writes feedback page and verdict, and calls `done`
    with each verdict as it stands. Returns them all in the order of `found`.

    Raises SandboxUnavailable before anything runs where no box can be made. A fault of ours in one hand-in becomes
    its verdict `blocked`, with the traceback in the log, and the rest goes on.
    """
    if options.sandboxed:
        bwrap.check()
        bwrap.check_hidden(course.root)
    verdicts_by: dict[HandIn, Verdict] = {}
    for hand_in, verdict in _graded(course, found, options):
        verdicts_by[hand_in] = verdict
        done(verdict)
    return [verdicts_by[hand_in] for hand_in in found.hand_ins]


def absent(course: Course, found: Found, assignments: list[Assignment], options: Options) -> list[Verdict]:
    """Writes and returns the verdict `absent` for every learner and assignment with nothing handed in; what a hand-in
    that is there no more was given is taken out of the gradebook.
    """
    there = {(hand_in.student, hand_in.assignment.name) for hand_in in found.hand_ins}
    made = []
    for student in found.students:
        for assignment in assignments:
            if (student, assignment.name) not in there:
                verdict = _unscored(
                    course, student, assignment, Status.ABSENT, "nothing was handed in", options
                )
                gradebook.unscore(course, verdict, options.results)
                made.append(verdict)
    return made


def _graded(course: Course, found: Found, options: Options) -> Iterator[tuple[HandIn, Verdict]]:
    with ThreadPoolExecutor(options.workers, thread_name_prefix="grade") as pool:
        waiting: dict[Future[tuple[Verdict, NotebookNode]], HandIn] = {}
        for hand_in in found.hand_ins:
            future = pool.submit(
                grade_notebook,
                course,
                hand_in.assignment,
                hand_in.student,
                hand_in.folder,
                sandboxed=options.sandboxed,
                run=options.run,
            )
            waiting[future] = hand_in
        try:
            for future in as_completed(waiting):
                yield waiting[future], _entered(course, waiting[future], future, options)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _entered(
    course: Course, hand_in: HandIn, future: Future[tuple[Verdict, NotebookNode]], options: Options
) -> Verdict:
    """Enters one result in the gradebook; what breaks here is ours, and blocks this hand-in alone."""
    student, name = hand_in.student, hand_in.assignment.name
    try:
        verdict, notebook = future.result()
        verdict = gradebook.record(course.root, student, name, verdict, notebook, results=options.results)
        gradebook.feedback(course.root, student, name)
    except Exception as error:
        log.exception("%s/%s: grading broke", student, name)
        why = f"a fault of the grader, not of the hand-in: {type(error).__name__}: {error}"
        verdict = _unscored(course, student, hand_in.assignment, Status.BLOCKED, why, options)
        gradebook.unscore(course, verdict, options.results)
    return verdict


def _unscored(
    course: Course, student: str, assignment: Assignment, status: Status, why: str, options: Options
) -> Verdict:
    points = gradebook.max_score(course, assignment)
    return without_score(
        student,
        assignment.name,
        status,
        points,
        why,
        run=options.run,
        sandboxed=options.sandboxed,
        evidence=evidence.of(course, assignment),
    )
