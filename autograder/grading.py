"""Grades a class: an engine runs the hand-ins, nbgrader keeps the books, one verdict each whatever happens.

In this order, each step on the disk before the next: result in the spool → `graded` in the journal → gradebook, verdict
and feedback page → `recorded` → out of the spool. So a grader that is killed at any moment goes on where it stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from autograder.content import Assignment, Course
from autograder.engine import job as jobs
from autograder.engine.events import Engine, Event, Unwritable
from autograder.engine.handins import Found, HandIn, new_run
from autograder.engine.job import Job
from autograder.engine.journal import Journal, State
from autograder.engine.pool import LocalPool
from autograder.engine.recorder import Recorder
from autograder.engine.schedule import Gpu
from autograder.engine.spool import Spool
from autograder.notebooks import gradebook
from autograder.recording import Books, enter, unscored
from autograder.sandbox import bwrap
from autograder.verdict import Status, Verdict
from autograder.verdict import read as read_verdict

Told = Callable[[Event], None]


@dataclass(frozen=True)
class Options:
    """How to grade: `jobs` hand-ins at once (0: one for each core), in boxes or not, verdicts to `results`. `selection`
    names what was asked for: a run that did not end is gone on with by the next of the same selection. `device` is
    auto, cpu or cuda; `gpus` how many of them there are.
    """

    results: Path
    jobs: int = 0
    sandboxed: bool = True
    device: str = "cpu"
    gpus: int = 0
    memory_mib: int = 0
    selection: str = ""
    run: str = field(default_factory=new_run)


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
        verdicts = session.grade(found, engine or local(options))
        session.end()
    return verdicts


def absent(course: Course, found: Found, assignments: list[Assignment], options: Options) -> list[Verdict]:
    """Writes and returns the verdict `absent` for every learner and assignment with nothing handed in; what a hand-in
    that is there no more was given is taken out of the gradebook.
    """
    there = {(hand_in.student, hand_in.assignment.name) for hand_in in found.hand_ins}
    made = []
    for student in found.students:
        for assignment in assignments:
            if (student, assignment.name) not in there:
                verdict = unscored(
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
        books = Books(course, self._spool, options.results)
        self._recorder = Recorder(lambda job, why: self._stand(job, enter(books, self._journal, job, why)))

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            self._recorder.close(wait=kind is None)
        finally:
            self._journal.close()

    @property
    def run(self) -> str:
        """The id of this run: that of the one it goes on with, where it does."""
        return self._run.id

    @property
    def continued(self) -> bool:
        """Whether this goes on with a run that did not end."""
        return self._run.continued

    def grade(self, found: Found, engine: Engine) -> list[Verdict]:
        """Grades every hand-in of `found` that has no verdict in this run yet; returns them all, in order."""
        made = [self.job(hand_in) for hand_in in found.hand_ins]
        engine.run([job for job in made if not self._stands(job)], self._spool, self._hear)
        self._recorder.drain(lambda: self._hear(Event("tick")))
        return [self.verdicts[job.key] for job in made]

    def follow(self, pool: LocalPool, more: Callable[[], Iterable[HandIn] | None]) -> None:
        """Grades what `more` gives, which is asked about five times a second, until it gives None. What was recorded
        in any run, and is as it was, is not graded again.
        """

        def jobs_of() -> list[Job] | None:
            found = more()
            made = None if found is None else [self.job(hand_in) for hand_in in found]
            return None if made is None else [job for job in made if not self._stands(job, anywhere=True)]

        pool.run([], self._spool, self._hear, jobs_of)
        self._recorder.drain(lambda: self._hear(Event("tick")))

    def job(self, hand_in: HandIn) -> Job:
        """A hand-in as it lies there now, as a job of this run."""
        return jobs.make(
            self._course,
            hand_in.assignment,
            hand_in.student,
            hand_in.folder,
            sandboxed=self._options.sandboxed,
            run=self._run.id,
            device=self._device(hand_in.assignment),
        )

    def _device(self, assignment: Assignment) -> str:
        """Where a hand-in runs. Of itself a lab goes to GPUs only where there are as many as it has ranks."""
        if self._options.device != "auto":
            return self._options.device if assignment.kind == "lab" else "cpu"
        wanted = jobs.needs(self._course, assignment, "cuda").gpus
        return "cuda" if 0 < wanted <= self._options.gpus else "cpu"

    def end(self) -> None:
        """Everything is done: the next start begins a new run."""
        self._journal.end(self._run.id)
        self._spool.clear()

    def _stands(self, job: Job, *, anywhere: bool = False) -> bool:
        """Whether a job of a run that is gone on with needs no grading; one that only needs recording is recorded."""
        state = self._journal.state(job)
        if state is State.RECORDED or (anywhere and self._journal.recorded(job)):
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

    def _path(self, job: Job) -> Path:
        return self._options.results / job.student / f"{job.assignment}.json"


def local(options: Options, gpus: tuple[Gpu, ...] | None = None) -> LocalPool:
    """The engine that runs on this machine."""
    return LocalPool(options.jobs, options.memory_mib, gpus, log=options.results / "grade.log")
