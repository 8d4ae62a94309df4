"""Shows `shardlab grade` at work: progress, the class's table, and where everything lies."""

from __future__ import annotations

import contextlib
import functools
import json
import logging
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from autograder import course as courses
from autograder import grading
from autograder.content import Course
from autograder.engine import devices, handins
from autograder.engine.handins import Found, HandIn
from autograder.engine.job import Device, Job
from autograder.engine.journal import JournalBusy, JournalError
from autograder.engine.pool import Unwritable
from autograder.engine.watch import Watch
from autograder.notebooks import gradebook
from autograder.report import table
from autograder.sample.layout import layout
from autograder.sandbox import in_force
from autograder.sandbox.unavailable import SandboxUnavailable
from autograder.verdict import PartStatus, Status, Verdict


def run(
    course: Course,
    *,
    sample: Path | None,
    student: str,
    assignment: str,
    jobs: int,
    results: Path | None,
    engine: Literal["local", "slurm"] = "local",
    device: Literal["auto", "cpu", "cuda"] = "auto",
    watch: bool = False,
    sandboxed: bool,
) -> int:
    """Grades the class of `course`, or the sample class laid out in `sample`, and returns the exit code. With `watch`
    it goes on with what comes in, until it is interrupted.
    """
    console = Console(highlight=False)
    times: dict[str, float] = {}
    if sample is not None:
        with _timed(times, "lay out the sample class"):
            course = courses.load(layout(course, sample))
    if not sandboxed:
        console.print(
            "[yellow]graded without a sandbox[/]: for hand-ins of your own only; every verdict says so"
        )
    find = functools.partial(
        handins.find, course, course.root / "submitted", student=student, assignment=assignment
    )
    found = find()
    for line in found.ignored:
        console.print(f"[yellow]ignored[/] {escape(line)}")
    if not found.hand_ins and not watch:
        asked = " ".join(filter(None, [student and f"by {student}", assignment and f"for {assignment}"]))
        console.print(
            f"nothing is handed in {asked}{' ' if asked else ''}below {course.root / 'submitted'}",
            soft_wrap=True,
        )
        return 2
    options = grading.Options(
        results=(results or course.root / "results").resolve(),
        jobs=jobs or course.engine.jobs,
        memory_mib=course.engine.memory_mib,
        device=_device(device),
        sandboxed=sandboxed,
    )
    try:
        options.results.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        console.print(f"[red]not graded:[/] {escape(str(options.results))} cannot be made: {error.strerror}")
        return 1
    logging.basicConfig(filename=options.results / "grade.log", level=logging.WARNING, force=True)
    with _timed(times, "enter the assignments in the gradebook"):
        gradebook.generate(course.root, [a.name for a in course.assignments])
    try:
        for line in in_force.tell() if sandboxed else ():
            console.print(f"[dim]{escape(line)}[/]", soft_wrap=True)
        with _timed(times, f"grade {len(found.hand_ins)} hand-ins"), _stoppable(), _progress(console) as bar:
            task = bar.add_task("grading", total=len(found.hand_ins))
            verdicts = grading.grade(
                course,
                found,
                options,
                lambda verdict: _show(bar, task, verdict),
                scope=json.dumps([student, assignment, sandboxed, options.device]),
                more=_watching(bar, task, found, find) if watch else None,
            )
    except (SandboxUnavailable, JournalBusy, JournalError, Unwritable) as error:
        console.print(f"[red]not graded:[/] {escape(str(error))}")
        return 1
    except KeyboardInterrupt:
        console.print("[yellow]stopped:[/] what is graded stands; the same command goes on from here")
        return 0 if watch else 130
    assignments = [a for a in course.assignments if assignment in ("", a.name)]
    verdicts += grading.absent(course, found, assignments, options)
    with _timed(times, "export"):
        grades = gradebook.export(course.root, options.results / "grades.csv")
    names = [a.name for a in assignments]
    (options.results / "table.csv").write_text(table.text(found.students, names, verdicts), encoding="utf-8")
    console.print(table.rich_table(course.title, found.students, names, verdicts))
    for what, seconds in times.items():
        console.print(f"{seconds:6.1f} s  {what}")
    console.print(f"gradebook  {course.root / 'gradebook.db'}", soft_wrap=True)
    console.print(
        f"grades     {grades}  (nbgrader's: what waits, or was not handed in, is 0 there)", soft_wrap=True
    )
    console.print(f"table      {options.results / 'table.csv'}  (with statuses)", soft_wrap=True)
    console.print(
        f"feedback   {course.root / 'feedback'}/<learner>/<assignment>/<assignment>.html", soft_wrap=True
    )
    console.print(f"verdicts   {options.results}/<learner>/<assignment>.json", soft_wrap=True)
    return 1 if any(map(_is_blocked, verdicts)) else 0


def _device(asked: Literal["auto", "cpu", "cuda"]) -> Device:
    if asked == "auto":
        return "cuda" if devices.find() else "cpu"
    return asked


@contextlib.contextmanager
def _stoppable() -> Iterator[None]:
    """Being told to end (SIGTERM) is the same as Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _watching(
    bar: Progress, task: TaskID, found: Found, find: Callable[[], Found]
) -> Callable[[Callable[[HandIn], Job]], Watch]:
    """A watch over what is handed in, that lets the bar know of what came."""

    def begin(make: Callable[[HandIn], Job]) -> Watch:
        def came(hand_in: HandIn) -> Job:
            bar.update(task, total=(bar.tasks[task].total or 0) + 1)
            return make(hand_in)

        return Watch(found.hand_ins, lambda: find().hand_ins, came)

    return begin


class _timed:
    """Notes how many seconds of wall time a step took."""

    def __init__(self, times: dict[str, float], what: str) -> None:
        self.times, self.what = times, what

    def __enter__(self) -> None:
        self.begun = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.times[self.what] = time.perf_counter() - self.begun


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
    )


def _show(bar: Progress, task: TaskID, verdict: Verdict) -> None:
    about = escape(f"{verdict.student} {verdict.assignment}: {table.cell(verdict)}")
    bar.update(task, advance=1, description=about)
    if _is_blocked(verdict):
        told = escape(f"{verdict.student}/{verdict.assignment}: {verdict.reason}")
        bar.console.print(f"[bold red]blocked[/] {told}")


def _is_blocked(verdict: Verdict) -> bool:
    return verdict.status is Status.BLOCKED or any(p.status is PartStatus.BLOCKED for p in verdict.parts)
