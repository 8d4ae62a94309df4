"""What a person sees while a class is graded: a line a finished hand-in, and below it how far it is."""

from __future__ import annotations

from collections import Counter
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from autograder.engine.events import Event
from autograder.report import table
from autograder.verdict import PartStatus, Status, Verdict


class Board:
    """A context manager. On a terminal the last line is live; elsewhere there are plain lines only. `total` is None
    where nobody knows how many hand-ins come.
    """

    def __init__(self, console: Console, total: int | None) -> None:
        self._console = console
        self._total = total
        self._states: Counter[str] = Counter()
        self._running: set[str] = set()
        self._waiting: set[str] = set()
        self._done = 0
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._task = self._bar.add_task("grading", total=total)

    def __enter__(self) -> Board:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def done(self, verdict: Verdict) -> None:
        """A verdict stands."""
        self._done += 1
        self._states[str(verdict.status)] += 1
        about = escape(f"{verdict.student} {verdict.assignment}: {table.cell(verdict)}")
        so_far = f"{self._done:>4} " if self._total is None else f"{self._done:>4}/{self._total} "
        self._console.print(f"[dim]{so_far}[/]{about}", soft_wrap=True)
        if is_blocked(verdict):
            told = escape(f"{verdict.student}/{verdict.assignment}: {verdict.reason}")
            self._console.print(f"[bold red]blocked[/] {told}", soft_wrap=True)
        self._update()

    def told(self, event: Event) -> None:
        """Something happened in the engine."""
        if event.kind == "word":
            self._console.print(f"[yellow]note[/] {escape(event.why)}", soft_wrap=True)
        job = event.job
        if job is None:
            return
        self._running.discard(job.id)
        self._waiting.discard(job.id)
        if event.kind in ("queued", "again"):
            self._waiting.add(job.id)
        elif event.kind == "started":
            self._running.add(job.id)
        if event.kind == "again":
            told = escape(f"{job.student}/{job.assignment}: {event.why}")
            self._console.print(f"[yellow]again[/] {told}", soft_wrap=True)
        self._update()

    def line(self) -> str:
        """How far it is, in words."""
        states = ", ".join(f"{count} {state}" for state, count in sorted(self._states.items()))
        return f"{len(self._running)} running, {len(self._waiting)} waiting" + (
            f"; {states}" if states else ""
        )

    def _update(self) -> None:
        self._bar.update(self._task, completed=self._done, description=self.line())


def is_blocked(verdict: Verdict) -> bool:
    """Whether something of a verdict waits for us or the machine."""
    return verdict.status is Status.BLOCKED or any(p.status is PartStatus.BLOCKED for p in verdict.parts)
