"""Attempts: hand-ins kept beside a lab's solution whose first line says the verdict each must get."""

from __future__ import annotations

import re
from pathlib import Path

from autograder.content import Course, Lab
from autograder.tomlfile import ContentError
from autograder.verdict import PartStatus, Verdict

_EXPECT = re.compile(r"^# expect: (.+)$")
_ONE = re.compile(r"^([A-Za-z0-9_]+)=([a-z]+)(?::([a-z0-9-]+))?$")

Expected = dict[str, tuple[PartStatus, str | None]]
"""Task id → status, and the misconception or mistake that must be named (None: not asked for)."""


def attempts(lab: Lab) -> list[Path]:
    """All attempts of a lab, by name."""
    return sorted((lab.solution / "attempts").glob("*.py"))


def expected(course: Course, lab: Lab, path: Path) -> Expected:
    """What the first line of an attempt asks for: `# expect: TASK=STATUS[:ID] …`, every task of the lab once.
    Raises ContentError naming the file.
    """
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    match = _EXPECT.match(first)
    if not match:
        raise ContentError(f"{path}:1: an attempt starts with `# expect: TASK=STATUS[:ID] …`")
    found: Expected = {}
    for word in match.group(1).split():
        one = _ONE.match(word)
        if not one or one.group(2) not in set(PartStatus):
            raise ContentError(f"{path}:1: {word!r} is not TASK=STATUS[:ID] with a part status")
        task, status, named = one.groups()
        if named and named not in course.misconceptions and named not in lab.mistakes:
            raise ContentError(f"{path}:1: no misconception and no mistake of this lab is called {named!r}")
        found[task] = (PartStatus(status), named)
    tasks = {task.id for task in lab.tasks}
    if set(found) != tasks:
        raise ContentError(f"{path}:1: names {sorted(found)}, the lab's tasks are {sorted(tasks)}")
    return found


def differences(expects: Expected, verdict: Verdict) -> list[str]:
    """How a verdict differs from what was expected, one sentence a task; nothing when it agrees."""
    said = []
    parts = {part.id: part for part in verdict.parts}
    for task, (status, named) in expects.items():
        part = parts.get(task)
        if part is None:
            said.append(f"{task}: no such part; the hand-in is {verdict.status}: {verdict.reason}")
        elif part.status is not status:
            said.append(f"{task}: {part.status}, should be {status}: {part.reason}")
        elif named and part.misconception != named:
            said.append(f"{task}: names {part.misconception}, should name {named}: {part.reason}")
    return said
