"""Shows `shardlab grade` at work: progress, the class's table, and where everything lies."""

from __future__ import annotations

import contextlib
import logging
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.markup import escape

from autograder import course as courses
from autograder import grading
from autograder.content import Course
from autograder.engine import devices, handins
from autograder.engine.events import Engine, Event, Unwritable
from autograder.engine.handins import Found, HandIn
from autograder.engine.journal import JournalError
from autograder.engine.lock import LOCK, Taken, lock
from autograder.engine.pool import LocalPool
from autograder.engine.slurm.commands import SlurmError
from autograder.engine.slurm.runner import SlurmEngine
from autograder.engine.watch import Watch
from autograder.grading import Options, Session
from autograder.notebooks import gradebook
from autograder.report import table
from autograder.report.progress import Board, is_blocked
from autograder.report.stop import Stop, Stopped
from autograder.sample.layout import layout
from autograder.sandbox import in_force
from autograder.sandbox.unavailable import SandboxUnavailable
from autograder.verdict import Verdict


@dataclass(frozen=True)
class Asked:
    """What `shardlab grade` was asked for."""

    sample: Path | None = None
    student: str = ""
    assignment: str = ""
    jobs: int = 0
    results: Path | None = None
    sandboxed: bool = True
    engine: Literal["local", "slurm"] = "local"
    device: Literal["auto", "cpu", "cuda"] = "auto"
    watch: bool = False


def run(course: Course, asked: Asked) -> int:
    """Grades the class of `course`, or the sample class laid out anew, and returns the exit code."""
    console = Console(highlight=False)
    try:
        with Stop() as stop, contextlib.ExitStack() as held:
            times: dict[str, float] = {}
            if asked.sample is not None:
                if (asked.sample / LOCK).is_file():
                    with lock(asked.sample):
                        pass  # nobody is grading the class that is about to be replaced
                with _timed(times, "lay out the sample class"):
                    course = courses.load(layout(course, asked.sample))
            held.enter_context(lock(course.root))
            return _Command(course, asked, console, stop, times).run()
    except (SandboxUnavailable, SlurmError, Taken) as error:
        console.print(f"[red]not graded:[/] {escape(str(error))}", soft_wrap=True)
        return 1
    except (Unwritable, JournalError) as error:
        console.print(
            f"[red]stopped:[/] results cannot be written ({escape(error.strerror or str(error))}). Nothing is lost: "
            "make room, or let the folder be written, and run the same command again",
            soft_wrap=True,
        )
        return 1
    except (Stopped, KeyboardInterrupt) as stopped:
        number = stopped.signal if isinstance(stopped, Stopped) else signal.SIGINT
        console.print(
            "[yellow]stopped:[/] what is recorded stands; run the same command again, and it goes on from there",
            soft_wrap=True,
        )
        return 128 + number


class _Command:
    def __init__(
        self, course: Course, asked: Asked, console: Console, stop: Stop, times: dict[str, float]
    ) -> None:
        self.course, self.asked, self.console, self.stop, self.times = course, asked, console, stop, times
        self.gpus = () if asked.device == "cpu" or asked.engine != "local" else devices.gpus()
        selection = [asked.student, asked.assignment, asked.sandboxed, asked.device, asked.watch]
        self.options = Options(
            results=(asked.results or course.root / "results").resolve(),
            jobs=asked.jobs or course.engine.jobs,
            sandboxed=asked.sandboxed,
            device=asked.device,
            gpus=len(self.gpus),
            memory_mib=course.engine.memory_mib,
            selection="\0".join(map(str, selection)),
        )

    def run(self) -> int:
        asked, console = self.asked, self.console
        if not asked.sandboxed:
            console.print(
                "[yellow]graded without a sandbox[/]: for hand-ins of your own only; every verdict says so"
            )
        found = self._find()
        for line in found.ignored:
            console.print(f"[yellow]ignored[/] {escape(line)}")
        if not found.hand_ins and not asked.watch:
            return self._nothing()
        try:
            self.options.results.mkdir(parents=True, exist_ok=True)
            log = self.options.results / "grade.log"
            logging.raiseExceptions = False  # a log on a full disk: what is to be said of it is said by us
            logging.basicConfig(filename=log, level=logging.WARNING, force=True)
        except OSError as error:
            raise Unwritable(error.errno, f"{self.options.results}: {error.strerror}") from error
        engine = self._engine()
        if engine is None:
            return 2
        with _timed(self.times, "enter the assignments in the gradebook"):
            gradebook.generate(self.course.root, [a.name for a in self.course.assignments])
        self.stop.check()
        return self._follow(engine) if asked.watch else self._grade(found, engine)

    def _grade(self, found: Found, engine: Engine) -> int:
        what = f"grade {len(found.hand_ins)} hand-ins"
        with Board(self.console, len(found.hand_ins)) as board, self._session(board) as session:
            if session.continued:
                self.console.print("goes on with a run that did not end")
            with _timed(self.times, what):
                verdicts = session.grade(found, engine)
            assignments = [a for a in self.course.assignments if self.asked.assignment in ("", a.name)]
            self.stop.check()
            options = replace(self.options, run=session.run)
            verdicts += grading.absent(self.course, found, assignments, options)
            self._tables(found, verdicts)
            session.end()
        self._show(found, verdicts)
        return 1 if any(map(is_blocked, verdicts)) else 0

    def _follow(self, engine: Engine) -> int:
        """Until it is stopped: what is handed in is graded as it comes."""
        assert isinstance(engine, LocalPool)
        watch = Watch(self.course, student=self.asked.student, assignment=self.asked.assignment)
        self.console.print(f"watching {self.course.root / 'submitted'}; Ctrl-C ends it", soft_wrap=True)

        def look() -> list[HandIn]:
            return watch.look()

        with Board(self.console, None) as board, self._session(board) as session:
            try:
                session.follow(engine, look)
            except Stopped:
                self.console.print("stopped watching; what waits is graded at the next start")
        return 0

    def _session(self, board: Board) -> Session:
        def told(event: Event) -> None:
            self.stop.check()
            board.told(event)

        return Session(self.course, self.options, board.done, told)

    def _find(self) -> Found:
        asked = self.asked
        submitted = self.course.root / "submitted"
        return handins.find(self.course, submitted, student=asked.student, assignment=asked.assignment)

    def _engine(self) -> Engine | None:
        """The engine asked for, and a line that says what it works with; None where there is none."""
        if self.asked.engine == "slurm":
            if self.asked.watch:
                self.console.print("--watch grades on this machine only: leave out --engine slurm")
                return None
            return SlurmEngine(self.course.engine.slurm, self.options.results / ".slurm")
        pool = grading.local(self.options, self.gpus)
        for line in (pool.in_force(), *(in_force.tell() if self.asked.sandboxed else ())):
            self.console.print(f"[dim]{escape(line)}[/]", soft_wrap=True)
        return pool

    def _nothing(self) -> int:
        asked = self.asked
        about = " ".join(
            filter(
                None,
                [asked.student and f"by {asked.student}", asked.assignment and f"for {asked.assignment}"],
            )
        )
        where = self.course.root / "submitted"
        self.console.print(f"nothing is handed in {about}{' ' if about else ''}below {where}", soft_wrap=True)
        return 2

    def _tables(self, found: Found, verdicts: list[Verdict]) -> None:
        results = self.options.results
        names = [a.name for a in self.course.assignments if self.asked.assignment in ("", a.name)]
        with _timed(self.times, "export"):
            gradebook.export(self.course.root, results / "grades.csv")
        (results / "table.csv").write_text(table.text(found.students, names, verdicts), encoding="utf-8")

    def _show(self, found: Found, verdicts: list[Verdict]) -> None:
        root, results, console = self.course.root, self.options.results, self.console
        names = [a.name for a in self.course.assignments if self.asked.assignment in ("", a.name)]
        console.print(table.rich_table(self.course.title, found.students, names, verdicts))
        for what, seconds in self.times.items():
            console.print(f"{seconds:6.1f} s  {what}")
        for line in (
            f"gradebook  {root / 'gradebook.db'}",
            f"grades     {results / 'grades.csv'}  (nbgrader's: what waits, or was not handed in, is 0 there)",
            f"table      {results / 'table.csv'}  (with statuses)",
            f"feedback   {root / 'feedback'}/<learner>/<assignment>/<assignment>.html",
            f"verdicts   {results}/<learner>/<assignment>.json",
        ):
            console.print(line, soft_wrap=True)


@contextlib.contextmanager
def _timed(times: dict[str, float], what: str) -> Iterator[None]:
    """Notes how many seconds of wall time a step took."""
    begun = time.perf_counter()
    yield
    times[what] = time.perf_counter() - begun
