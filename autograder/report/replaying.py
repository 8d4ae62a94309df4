"""Shows `shardlab replay` at work: what a verdict says, what is reached now, and in what they differ."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape

from autograder import verdict as verdicts
from autograder.content import Course
from autograder.engine import evidence, replay
from autograder.report import table
from autograder.sandbox import bwrap
from autograder.tomlfile import ContentError


def run(course: Course, path: Path, *, sandboxed: bool) -> int:
    """Replays the verdict in `path` on submitted/ of the course. Returns the exit code: 0 where nothing differs, else
    1. Raises ContentError where there is no such file.
    """
    console = Console(highlight=False, soft_wrap=True)
    if not path.is_file():
        raise ContentError(f"{path}: there is no such file; verdicts are results/<learner>/<assignment>.json")
    try:
        before = verdicts.read(path)
    except ValueError as error:
        console.print(f"[red]differs[/] {escape(str(error))}")
        return 1
    if (path.resolve().parent.name, path.stem) != (before.student, before.assignment):
        console.print(
            f"[red]differs[/] {escape(str(path))}: holds a verdict of another learner or assignment"
        )
        return 1
    if sandboxed:
        bwrap.check()
    folder = course.root / "submitted" / before.student / before.assignment
    try:
        with console.status("grading again"):
            again = replay.replay(course, before, folder, sandboxed=sandboxed)
    except replay.Impossible as problem:
        console.print(f"[red]not replayed[/] {escape(str(path))}: {escape(str(problem))}")
        return 1
    console.print(
        f"{escape(before.student)} {before.assignment}: {table.cell(before)}, run {escape(before.run)}"
    )
    found = replay.differences(before, again)
    for line in found:
        console.print(f"[red]differs[/] {escape(line)}")
    for name, version in evidence.versions().items():
        made = before.evidence.get("versions", {}).get(name)
        if made != version:
            console.print(f"[yellow]made with[/] {name} {escape(str(made))}, replayed with {escape(version)}")
    if not found:
        console.print(f"[green]the same[/] in all {len(before.parts)} parts")
    return 1 if found else 0
