"""Grades a class: an engine grades hand-ins side by side, nbgrader keeps the books, one verdict each whatever happens.

Every step is in the journal before it is acted upon: a run that was ended anyhow goes on where it was.
"""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from autograder import verdict as verdicts
from autograder.content import Assignment, Course
from autograder.engine import evidence
from autograder.engine import job as jobs
from autograder.engine.devices import find as find_gpus
from autograder.engine.handins import Found, HandIn, new_run
from autograder.engine.job import Device, Job
from autograder.engine.journal import Journal
from autograder.engine.pool import Engine, Event, LocalPool, More
from autograder.engine.schedule import Machine
from autograder.engine.spool import Spool
from autograder.notebooks import gradebook
from autograder.sandbox import bwrap
from autograder.verdict import Status, Verdict, without_score

log = logging.getLogger(__name__)

Done = Callable[[Verdict], None]


@dataclass(frozen=True)
class Options:
    """How to grade: `jobs` hand-ins at once (0: one for each core), in boxes or not, verdicts to `results`;
    `memory_mib` for all hand-ins together (0: what this machine has); `device` "cuda" leases GPUs to labs.
    """

    results: Path
    jobs: int = 0
    sandboxed: bool = True
    memory_mib: int = 0
    device: Device = "cpu"
    run: str = field(default_factory=new_run)

    @property
    def workers(self) -> int:
        """The number of hand-ins graded at once."""
        return self.jobs or os.cpu_count() or 1

    def machine(self) -> Machine:
        """What there is to lease to hand-ins."""
        memory = self.memory_mib or os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
        gpus = tuple(gpu for gpu in find_gpus() if not gpu.slice) if self.device == "cuda" else ()
        return Machine(self.workers, memory, gpus)

    def engine(self) -> Engine:
        """Worker processes on this machine."""
        return LocalPool(self.machine(), log=self.results / "grade.log")


def grade(
    course: Course,
    found: Found,
    options: Options,
    done: Done,
    *,
    scope: str = "",
    engine: Engine | None = None,
    more: Callable[[Callable[[HandIn], Job]], More] | None = None,
) -> list[Verdict]:
    """Grades every hand-in of `found`, enters it in the gradebook, writes feedback page and verdict, and calls `done`
    with each verdict as it stands. Returns them all in the order of `found`, then those that `more` brought.

    Goes on with a run of the same `scope` that was ended before it was through: what it has entered is not graded
    again, unless hand-in or key have changed since. Raises SandboxUnavailable before anything runs where no box can be
    made, JournalBusy where another grader is at work, JournalError where nothing can be written. A fault of ours in one
    hand-in becomes its verdict `blocked`, with the traceback in the log, and the rest goes on.
    """
    if options.sandboxed:
        bwrap.check()
        bwrap.check_hidden(course.root)
    with Journal(options.results) as journal:
        options = replace(options, run=journal.begin(options.run, scope))
        grader = _Grader(course, options, journal, done)
        watch = more and more(grader.job)  # looks before the jobs are made, so that no change falls between
        made = {hand_in: grader.job(hand_in) for hand_in in found.hand_ins}
        grader.go(list(made.values()), engine or options.engine(), watch)
        journal.finish(options.run)
    order = {(job.student, job.assignment): number for number, job in enumerate(made.values())}
    return sorted(grader.verdicts.values(), key=lambda v: order.get((v.student, v.assignment), len(order)))


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


class _Grader:
    """One run: the engine grades in a thread of its own, the books are kept in this one."""

    def __init__(self, course: Course, options: Options, journal: Journal, done: Done) -> None:
        self._course, self._options, self._journal, self._done = course, options, journal, done
        self._spool = Spool(options.results / ".spool")
        self._events: queue.SimpleQueue[Event | BaseException | None] = queue.SimpleQueue()
        self.verdicts: dict[tuple[str, str], Verdict] = {}

    def job(self, hand_in: HandIn) -> Job:
        """The job of one hand-in as it lies there now."""
        return jobs.make(
            self._course,
            hand_in.assignment,
            hand_in.student,
            hand_in.folder,
            run=self._options.run,
            sandboxed=self._options.sandboxed,
            device=self._options.device,
        )

    def go(self, todo: list[Job], engine: Engine, more: More | None) -> None:
        """Grades and enters all of `todo`, and what `more` brings."""
        waiting = [job for job in todo if not self._stands(job)]
        thread = threading.Thread(target=self._engine, args=(engine, waiting, more), name="engine")
        thread.start()
        try:
            for event in self._until_over():
                self._take(event)
        finally:
            engine.stop()
            thread.join()

    def _stands(self, job: Job) -> bool:
        """Whether this very hand-in was graded in this run already; enters what was not entered yet."""
        state = self._journal.state(job)
        if state == "recorded":
            try:
                verdict = verdicts.read(self._options.results / job.student / f"{job.assignment}.json")
            except (OSError, ValueError):
                verdict = None
            if verdict is not None and verdict.run == self._options.run:
                self._tell(verdict)
                return True
        if state == "graded" and self._spool.take(job) is not None:
            self._take(Event("graded", job))
            return True
        self._journal.note(job, "queued")
        return False

    def _engine(self, engine: Engine, todo: list[Job], more: More | None) -> None:
        try:
            engine.run(todo, self._spool, self._told, more)
            self._events.put(None)
        except BaseException as error:  # raised where the books are kept, which is where somebody hears it
            self._events.put(error)

    def _told(self, event: Event) -> None:
        """In the engine's thread: on the disk before anything comes of it."""
        if event.how in ("running", "graded"):
            self._journal.note(event.job, "running" if event.how == "running" else "graded")
        elif event.how == "replaced":
            self._journal.note(event.job, "replaced")
        self._events.put(event)

    def _until_over(self) -> Iterator[Event]:
        while (event := self._events.get()) is not None:
            if isinstance(event, BaseException):
                raise event
            yield event

    def _take(self, event: Event) -> None:
        if event.how == "graded":
            verdict = self._entered(event.job)
        elif event.how == "blocked":
            verdict = self._blocked(event.job, f"not graded, and no fault of the hand-in's: {event.why}")
        else:
            return
        self._journal.note(event.job, "recorded")
        self._spool.drop(event.job)
        self._tell(verdict)

    def _tell(self, verdict: Verdict) -> None:
        self.verdicts[verdict.student, verdict.assignment] = verdict
        self._done(verdict)

    def _entered(self, job: Job) -> Verdict:
        """Enters one result in the gradebook; what breaks here is ours, and blocks this hand-in alone."""
        student, name = job.student, job.assignment
        found = self._spool.take(job)
        if found is None:
            return self._blocked(job, "its result was not there when it was to be entered")
        try:
            verdict = gradebook.record(
                self._course.root, student, name, *found, results=self._options.results
            )
            gradebook.feedback(self._course.root, student, name)
        except Exception as error:
            log.exception("%s/%s: grading broke", student, name)
            why = f"a fault of the grader, not of the hand-in: {type(error).__name__}: {error}"
            verdict = self._blocked(job, why)
        return verdict

    def _blocked(self, job: Job, why: str) -> Verdict:
        assignment = self._course.assignment(job.assignment)
        verdict = _unscored(self._course, job.student, assignment, Status.BLOCKED, why, self._options)
        gradebook.unscore(self._course, verdict, self._options.results)
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
