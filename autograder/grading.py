"""Grades a class: an engine runs the hand-ins, nbgrader keeps the books, one verdict each whatever happens.

In this order, each step on the disk before the next: result in the spool → `graded` in the journal → gradebook, verdict
and feedback page → `recorded` → out of the spool. So a grader that is killed at any moment goes on where it stopped.
"""

from __future__ import annotations

import errno
import logging
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from autograder.content import Assignment, Course
from autograder.engine import job as jobs
from autograder.engine.events import Engine, Event, Unwritable
from autograder.engine.handins import Found, HandIn, new_run
from autograder.engine.job import Job
from autograder.engine.journal import Journal, State
from autograder.engine.pool import LocalPool, More
from autograder.engine.recorder import Recorder
from autograder.engine.spool import Spool, sync_folder
from autograder.notebooks import gradebook
from autograder.sandbox import bwrap
from autograder.verdict import Status, Verdict, without_score
from autograder.verdict import read as read_verdict

log = logging.getLogger(__name__)

Told = Callable[[Event], None]
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
_FULL_WORDS = (
    "No space left on device",
    "database or disk is full",
    "Disk quota exceeded",
    "Read-only file system",
)


@dataclass(frozen=True)
class Options:
    """How to grade: `jobs` hand-ins at once (0: one for each core), in boxes or not, verdicts to `results`. `selection`
    names what was asked for: a run that did not end is gone on with by the next of the same selection.
    """

    results: Path
    jobs: int = 0
    sandboxed: bool = True
    device: str = "cpu"
    memory_mib: int = 0
    selection: str = ""
    run: str = field(default_factory=new_run)


def local(options: Options) -> LocalPool:
    """The engine that runs on this machine."""
    return LocalPool(options.jobs, options.memory_mib, log=options.results / "grade.log")


def grade(
    course: Course,
    found: Found,
    options: Options,
    done: Callable[[Verdict], None],
    *,
    engine: Engine | None = None,
    told: Told = lambda event: None,
) -> list[Verdict]:
    """Grades every hand-in of `found`, enters it in the gradebook, writes feedback page and verdict, and calls `done`
    with each verdict as it stands. Returns them all in the order of `found`. `told` hears what the engine tells, and
    may stop everything by raising.

    Goes on with a run that did not end: what it has recorded, and is as it was, is not graded again. Raises
    SandboxUnavailable before anything runs where no box can be made; JournalError and Unwritable where results cannot
    be written, with nothing lost. A fault of ours in one hand-in becomes its verdict `blocked`, with the traceback in
    the log, and the rest goes on.
    """
    with Session(course, options, done, told) as session:
        verdicts_by: dict[HandIn, Verdict] = {}
        made = {
            hand_in: session.job(hand_in.assignment, hand_in.student, hand_in.folder)
            for hand_in in found.hand_ins
        }
        session.run(list(made.values()), engine or local(options))
        for hand_in, job in made.items():
            verdicts_by[hand_in] = session.verdicts[job.key]
        session.end()
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
                    course,
                    student,
                    assignment,
                    Status.ABSENT,
                    "nothing was handed in",
                    options.run,
                    options.sandboxed,
                )
                gradebook.unscore(course, verdict, options.results)
                made.append(verdict)
    return made


class Session:
    """A run of grading: journal, spool and recorder. `verdicts` fills by (student, assignment) as they stand."""

    def __init__(
        self,
        course: Course,
        options: Options,
        done: Callable[[Verdict], None],
        told: Told = lambda event: None,
    ) -> None:
        """Raises SandboxUnavailable, JournalError, Unwritable."""
        if options.sandboxed:
            bwrap.check()
            bwrap.check_hidden(course.root)
        self.verdicts: dict[tuple[str, str], Verdict] = {}
        self._course, self._options, self._done, self._told = course, options, done, told
        try:
            options.results.mkdir(parents=True, exist_ok=True)
            self._spool = Spool(options.results / ".spool")
            self._spool.clean()
        except OSError as error:
            raise Unwritable(error.errno, f"{options.results} cannot be written: {error.strerror}") from error
        self._journal = Journal(options.results / ".journal.db")
        if self._journal.word:
            told(Event("word", why=self._journal.word))
        self._run = self._journal.run(options.selection, options.run)
        self._states = self._journal.states(self._run.id)
        self._recorder = Recorder(self._record)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._recorder.close(wait=kind is None)
        finally:
            self._journal.close()

    @property
    def continued(self) -> bool:
        """Whether this goes on with a run that did not end."""
        return self._run.continued

    def job(self, assignment: Assignment, student: str, folder: Path) -> Job:
        """A hand-in as it lies there now, as a job of this run."""
        device = self._options.device if assignment.kind == "lab" else "cpu"
        more = {"sandboxed": self._options.sandboxed, "run": self._run.id, "device": device}
        return jobs.make(self._course, assignment, student, folder, **more)  # type: ignore[arg-type]

    def run(self, made: list[Job], engine: Engine, more: More | None = None) -> None:
        """Runs what has no verdict in this run yet. `more`, for a live queue, is a LocalPool's."""
        left = [job for job in made if not self._stands(job)]
        if more is not None and isinstance(engine, LocalPool):
            engine.run(left, self._spool, self._hear, more)
        else:
            engine.run(left, self._spool, self._hear)
        self._recorder.drain(lambda: self._hear(Event("tick")))

    def end(self) -> None:
        """Everything is done: the next start begins a new run."""
        self._journal.end(self._run.id)

    def _stands(self, job: Job) -> bool:
        """Whether a job of a run that is gone on with needs no grading; one that only needs recording is recorded."""
        state = self._states.get(job.id)
        if state is State.RECORDED:
            try:
                verdict = read_verdict(self._path(job))
            except (OSError, ValueError):
                return False
            self._stand(job, verdict)
            return True
        if state in (State.GRADED, State.RUNNING):
            found = self._spool.take(job)
            if found is not None and found[0].run == job.run:
                self._hear(Event("finished", job))
                return True
        return False

    def _stand(self, job: Job, verdict: Verdict) -> None:
        self.verdicts[job.key] = verdict
        self._done(verdict)

    def _hear(self, event: Event) -> None:
        self._recorder.raise_what_broke()
        job = event.job
        if job is not None:
            if event.kind in ("queued", "again"):
                self._journal.note(job, State.QUEUED, event.why)
            elif event.kind == "started":
                self._journal.note(job, State.RUNNING, f"slot {event.slot}")
            elif event.kind == "replaced":
                self._journal.note(job, State.REPLACED)
            elif event.kind == "finished":
                self._journal.note(job, State.GRADED)
                self._recorder.put(job, "")
            elif event.kind == "failed":
                self._recorder.put(job, event.why)
        self._told(event)

    def _record(self, job: Job, why: str) -> None:
        """Enters one result, or that there is none and why, wherever it has to stand. Runs in the recorder's thread."""
        assignment = self._course.assignment(job.assignment)
        try:
            verdict = None if why else self._entered(job)
        except Exception as error:
            self._give_up_where_full(error)
            log.exception("%s/%s: grading broke", job.student, job.assignment)
            why = f"a fault of the grader, not of the hand-in: {type(error).__name__}: {error}"
            verdict = None
        if verdict is None:
            verdict = _unscored(
                self._course, job.student, assignment, Status.BLOCKED, why, job.run, job.sandboxed
            )
            try:
                gradebook.unscore(self._course, verdict, self._options.results)
            except Exception as error:
                self._give_up_where_full(error)
                raise
        sync_folder(self._path(job).parent)
        sync_folder(self._options.results)
        self._journal.note(job, State.BLOCKED if why else State.RECORDED, why)
        self._spool.drop(job)
        self._stand(job, verdict)

    def _entered(self, job: Job) -> Verdict:
        taken = self._spool.take(job)
        if taken is None:
            raise RuntimeError("its result is not in the spool")
        results = self._options.results
        verdict = gradebook.record(self._course.root, job.student, job.assignment, *taken, results=results)
        gradebook.feedback(self._course.root, job.student, job.assignment)
        return verdict

    def _path(self, job: Job) -> Path:
        return self._options.results / job.student / f"{job.assignment}.json"

    def _give_up_where_full(self, error: BaseException) -> None:
        """A full disk is no fault of this hand-in, nor of the next: the run stops, and goes on when there is room.
        Raises Unwritable.
        """
        full = _says_full(error)
        for folder in (self._options.results, self._course.root):
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


def _unscored(
    course: Course, student: str, assignment: Assignment, status: Status, why: str, run: str, sandboxed: bool
) -> Verdict:
    points = gradebook.max_score(course, assignment)
    return without_score(student, assignment.name, status, points, why, run=run, sandboxed=sandboxed)


def narrowed(student: str, assignment: str, options: Options) -> str:
    """The name of a selection: what is asked for, and how it is graded."""
    return f"{student}\0{assignment}\0{options.sandboxed}\0{options.device}"
