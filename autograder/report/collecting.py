"""Shows `shardlab collect` at work: what became of every hand-in in a download, and what is next."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from autograder.content import Course
from autograder.intake import roster as rosters
from autograder.intake.collect import TO_SEE_TO, What, collect

_STYLE = {
    What.REJECTED: "yellow",
    What.KEPT: "yellow",
    What.REFUSED: "bold red",
    What.NOT_UNDERSTOOD: "bold red",
    What.UNCHANGED: "dim",
}


def run(course: Course, download: Path, assignment: str, roster: Path | None) -> int:
    """Lays `download` out below submitted/ of the course. Returns the exit code: 1 where something was not laid out
    that a person has to see to. Raises ContentError.
    """
    console = Console(highlight=False, soft_wrap=True)
    name = course.assignment(assignment).name
    known = rosters.read(roster) if roster is not None else None
    lines = collect(download, course.root / "submitted", name, known)
    for line in lines:
        style = _STYLE.get(line.what, "green")
        why = f": {escape(line.why)}" if line.why else ""
        console.print(f"[{style}]{line.what}[/] {escape(line.who)}{why}")
    count = Counter(line.what for line in lines)
    console.print(", ".join(f"{count[what]} {what}" for what in What if count[what]))
    console.print(f"Next: shardlab grade --assignment {name}")
    return 1 if any(line.what in TO_SEE_TO for line in lines) else 0
