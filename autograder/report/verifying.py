"""Shows `shardlab verify` at work: one line a check, then the count."""

from __future__ import annotations

import os

from rich.console import Console
from rich.markup import escape

from autograder.build import write
from autograder.build.outputs import outputs
from autograder.build.verify import verify
from autograder.content import Course
from autograder.quiz import lint
from autograder.sandbox import bwrap


def run(course: Course, *, jobs: int, sandboxed: bool) -> int:
    """Runs all checks and returns the exit code: 1 where one failed or there was none."""
    console = Console(highlight=False)
    if sandboxed:
        bwrap.check()
    wrong = [("built files", line) for line in write.check(course.root, outputs(course))]
    count = 1
    for check, said in verify(course, jobs=jobs or os.cpu_count() or 1, sandboxed=sandboxed):
        count += 1
        console.print(f"[{'red' if said else 'green'}]{'✗' if said else '✓'}[/] {escape(check.name)}")
        wrong += [(check.name, line) for line in said]
    for name, line in wrong:
        console.print(f"[red]{escape(name)}[/]: {escape(line)}", markup=True)
    if count == 1:
        console.print("[red]nothing to verify: the course has no content[/]")
        return 1
    for line in bank_figures(course):
        console.print(escape(line))
    console.print(f"{count} checks, {len({name for name, _ in wrong})} failed")
    return 1 if wrong else 0


def bank_figures(course: Course) -> list[str]:
    """What the question bank is made of, a few lines; nothing where there is none."""
    if not course.items:
        return []
    counts = lint.counts(course)
    true, claims = counts["key"].get("True", 0), sum(counts["key"].values())
    named = counts["misconception"]
    least = min(named.values(), default=0)
    lines = [
        f"question bank: {len(course.items)} items, {true} of {claims} claims true, "
        f"{len(named)} misconceptions in {least} items or more"
    ]
    for what in ("form", "level", "topic"):
        lines.append(f"  {what}: " + ", ".join(f"{name} {count}" for name, count in counts[what].items()))
    return lines
