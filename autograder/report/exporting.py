"""Says what `shardlab export quiz` wrote, and what the format cannot hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from autograder.content import Course
from autograder.quiz.export import formats


def run(course: Course, form: str, out: Path | None, topics: Sequence[str]) -> int:
    """Writes the file and returns the exit code. Raises ContentError."""
    made = formats.export(course, form, out, topics)
    console = Console(highlight=False)
    console.print(f"{made.held} questions in {escape(str(made.path))}")
    if made.left_out:
        console.print(f"{len(made.left_out)} questions are left out, as the format cannot hold them:")
        for ident, why in made.left_out:
            console.print(f"  {escape(ident)}: {escape(why)}")
    return 0
