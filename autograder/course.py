"""Finds and validates all content of a course into frozen types; an error names file, line and field.

A course is a folder with a `course.toml`: this checkout, an instructor's private course, or the copy of the practice
content inside an installed wheel (which holds no solutions).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import msgspec

from autograder.content import (
    Assignment,
    BankFile,
    Course,
    CourseFile,
    Item,
    Lab,
    LabFile,
    Misconception,
    MisconceptionFile,
)
from autograder.tomlfile import ContentError, Field, TomlFile

__all__ = ["Assignment", "ContentError", "Course", "Item", "Lab", "Misconception", "find_root", "load"]

INSTALLED = Path(__file__).resolve().parent / "content"


def find_root(start: Path | None = None) -> Path:
    """The nearest folder at or above `start` that holds a course.toml. Where none is asked for: at or above the working
    folder, else the practice content of the installed package. Raises ContentError where there is none.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "course.toml").is_file():
            return folder
    for folder in (INSTALLED, INSTALLED.parents[1]) if start is None else ():
        if (folder / "course.toml").is_file():
            return folder
    raise ContentError(
        f"{here}: no course.toml here or above; run this inside a course or name one with --course"
    )


def load(root: Path) -> Course:
    """Everything in the course at `root`. Raises ContentError on the first thing that is wrong."""
    root = root.resolve()
    file = TomlFile(root / "course.toml")
    head = file.into(CourseFile)
    for name, most in msgspec.structs.asdict(head.limits).items():
        if not (math.isfinite(most) and most > 0):
            raise file.error(("limits", name), "a limit is more than 0")
    for name in ("jobs", "memory_mib"):
        if getattr(head.engine, name) < 0:
            raise file.error(("engine", name), "0 or more; 0 is what the machine has")
    misconceptions = _misconceptions(root / "quizbank/misconceptions.toml")
    items = _bank(root / "quizbank", misconceptions)
    labs = {lab.name: lab for lab in _labs(root, misconceptions)}
    assignments = [
        *_notebooks(root),
        *_quizzes(root, head, items, file),
        *(_lab_assignment(root, lab) for lab in labs.values()),
    ]
    _distinct(
        (a.name for a in assignments), lambda name: file.error((), f"two assignments are called {name!r}")
    )
    known = {a.name for a in assignments}
    for index, name in enumerate(head.order):
        if name not in known:
            raise file.error(
                ("order", index), f"no assignment {name!r}; there are {', '.join(sorted(known))}"
            )
    place = {name: index for index, name in enumerate(head.order)}
    assignments.sort(key=lambda a: (place.get(a.name, len(place)), a.name))
    return Course(
        root=root,
        title=head.title,
        limits=head.limits,
        engine=head.engine,
        assignments=tuple(assignments),
        misconceptions=misconceptions,
        items=items,
        labs=labs,
    )


def _misconceptions(path: Path) -> dict[str, Misconception]:
    file = TomlFile(path)
    entries = file.into(MisconceptionFile).misconception
    for index, entry in enumerate(entries):
        if not entry.refutation.strip():
            raise file.error(("misconception", index, "refutation"), "a misconception needs its refutation")
    _distinct((e.id for e in entries), lambda name: file.error((), f"misconception {name!r} stands twice"))
    return {entry.id: entry for entry in entries}


def _bank(folder: Path, known: dict[str, Misconception]) -> dict[str, Item]:
    items: dict[str, Item] = {}
    for path in sorted(folder.glob("*.toml")):
        if path.name in ("misconceptions.toml", "corrections.toml"):
            continue
        file = TomlFile(path)
        bank = file.into(BankFile)
        for index, item in enumerate(bank.item):
            at = ("item", index)
            if item.id in items:
                raise file.error((*at, "id"), f"{item.id!r} is taken; ids are never reused")
            if sum(reason.right for reason in item.reason) != 1:
                raise file.error((*at, "reason"), "exactly one reason is right")
            for number, reason in enumerate(item.reason):
                if not reason.right and not reason.refutation.strip():
                    raise file.error((*at, "reason", number), "a wrong reason needs its refutation")
                _known(reason.misconception, known, file, (*at, "reason", number, "misconception"))
            for name in item.misconceptions:
                _known(name, known, file, (*at, "misconceptions"))
            items[item.id] = msgspec.structs.replace(item, topic=bank.topic)
    return items


def _known(name: str | None, known: dict[str, Misconception], file: TomlFile, field: Field) -> None:
    if name is not None and name not in known:
        raise file.error(field, f"no misconception {name!r} in misconceptions.toml")


def _labs(root: Path, known: dict[str, Misconception]) -> list[Lab]:
    return [_lab(root, path, known) for path in sorted((root / "gpu_labs").glob("*/lab.toml"))]


def _lab(root: Path, path: Path, known: dict[str, Misconception]) -> Lab:
    file = TomlFile(path)
    head = file.into(LabFile)
    for index, task in enumerate(head.task):
        at = ("task", index)
        if not (math.isfinite(task.points) and task.points > 0):
            raise file.error((*at, "points"), "a task is worth more than 0 points")
        if not task.case:
            raise file.error(at, "a task without a case checks nothing")
        for number, case in enumerate(task.case):
            if case.world < 1 or any(not 0 <= rank < case.world for rank in case.group or ()):
                raise file.error((*at, "case", number), "world is at least 1, ranks run from 0 to world − 1")
    if head.explain and not (math.isfinite(head.explain_points) and head.explain_points > 0):
        raise file.error(("explain_points",), "the explanation is worth more than 0 points")
    _distinct((t.id for t in head.task), lambda name: file.error((), f"task {name!r} stands twice"))
    for index, mistake in enumerate(head.mistake):
        if mistake.id in known:
            raise file.error(
                ("mistake", index, "id"), f"{mistake.id!r} is a misconception already: name that"
            )
    return Lab(
        name=path.parent.name,
        folder=path.parent,
        solution=root / "solutions/gpu_labs" / path.parent.name,
        title=head.title,
        level=head.level,
        summary=head.summary,
        tasks=head.task,
        limits=head.limits,
        mistakes={m.id: m for m in head.mistake},
        explain=head.explain,
        explain_points=head.explain_points,
    )


def _notebooks(root: Path) -> list[Assignment]:
    """From the text sources; where there are none (an installed wheel), from what is released."""
    sources = sorted((root / "solutions/notebooks").glob("*.py"))
    if sources:
        return [_assignment(root, path.stem, "notebook", _title(path), path) for path in sources]
    folders = sorted(p for p in (root / "exercises").glob("*") if p.is_dir())
    plain = [p for p in folders if not p.name.startswith(("lab-", "quiz-"))]
    return [_assignment(root, p.name, "notebook", p.name, None) for p in plain]


def _quizzes(root: Path, head: CourseFile, items: dict[str, Item], file: TomlFile) -> list[Assignment]:
    found = []
    for index, quiz in enumerate(head.quiz):
        chosen = tuple(item.id for item in items.values() if item.topic in quiz.topics)
        if not (math.isfinite(quiz.points) and quiz.points > 0):
            raise file.error(("quiz", index, "points"), "an item is worth more than 0 points")
        if not chosen:
            raise file.error(
                ("quiz", index, "topics"), f"no item of the bank has a topic of {list(quiz.topics)}"
            )
        made = _assignment(root, quiz.name, "quiz", quiz.title, root / "course.toml")
        found.append(msgspec.structs.replace(made, quiz=quiz, items=chosen))
    return found


def _lab_assignment(root: Path, lab: Lab) -> Assignment:
    made = _assignment(root, lab.assignment, "lab", lab.title, lab.solution / "solution.py")
    return msgspec.structs.replace(made, lab=lab.name)


def _assignment(
    root: Path, name: str, kind: Literal["notebook", "quiz", "lab"], title: str, source: Path | None
) -> Assignment:
    return Assignment(
        name=name,
        kind=kind,
        title=title,
        source=source,
        notebook=root / "solutions/exercises" / name / f"{name}.ipynb",
        release=root / "exercises" / name,
    )


def _title(path: Path) -> str:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# title:"):
            return line.removeprefix("# title:").strip().strip("\"'")
    raise ContentError(f'{path}:1: title: the header needs a line `# title: "…"`')


def _distinct(names: Iterable[str], error: Callable[[str], ContentError]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise error(name)
        seen.add(name)
