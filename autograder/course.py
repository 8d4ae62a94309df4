"""Finds and validates all content of a course into frozen types; an error names file, line and field.

A course is a folder with a `course.toml`: this checkout, an instructor's private course, or the copy of the practice
content inside an installed wheel (which holds no solutions).
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

import msgspec

from autograder.tomlfile import ContentError, TomlFile

__all__ = ["Assignment", "ContentError", "Course", "Item", "Lab", "Misconception", "find_root", "load"]

INSTALLED = Path(__file__).resolve().parent / "content"


class _Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


class Limits(_Strict):
    """What a notebook may use. Seconds are wall time; `function_seconds` bounds one call of a learner's function."""

    cell_seconds: float = 30.0
    notebook_seconds: float = 180.0
    function_seconds: float = 5.0
    memory_mib: int = 2048
    output_kib: int = 1024


class Engine(_Strict):
    """Where judge and box run. `jobs` hand-ins at once; 0 means one for each core."""

    jobs: int = 0


class Quiz(_Strict):
    """A quiz notebook made from the bank: all practice items of `topics`, `points` points an item."""

    name: str
    title: str
    topics: tuple[str, ...]
    points: float = 2.0


class _CourseFile(_Strict):
    title: str
    order: tuple[str, ...] = ()
    limits: Limits = Limits()
    engine: Engine = Engine()
    quiz: tuple[Quiz, ...] = ()


class Misconception(_Strict):
    """A named wrong belief. `refutation` is told to learners; `see` says where the course explains it."""

    id: str
    name: str
    refutation: str
    see: str = ""


class _MisconceptionFile(_Strict):
    misconception: tuple[Misconception, ...]


class Reason(_Strict):
    """One *because* of a two-tier item; a wrong one has its refutation and the misconception it shows."""

    text: str
    right: bool = False
    misconception: str | None = None
    refutation: str = ""


class Item(_Strict):
    """One question of the bank. `key` is the truth of `statement`. Ids are stable and never reused."""

    id: str
    version: int
    form: Literal["two-tier"]
    level: int
    regime: str
    statement: str
    key: bool
    explanation: str
    reason: tuple[Reason, ...]
    topic: str = ""
    use: Literal["practice", "graded"] = "practice"
    misconceptions: tuple[str, ...] = ()
    source: str = ""
    tags: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The reasons in the order learners see them, lettered a, b, c …"""
        return self.reason


class _BankFile(_Strict):
    topic: str
    item: tuple[Item, ...]


class Case(_Strict):
    """One run of a task: `world` ranks, what checks.py's given() needs to know, and what the switch does.

    `calls` are the calls the switch offers (empty: all); `hold` keeps completions back; `group` are the global ranks
    of the subgroup the task runs in (None: all); `seconds` and `memory_mib` override the lab's limits.
    """

    world: int
    use: Literal["learner", "hidden"] = "hidden"
    given: dict[str, Any] = {}
    calls: tuple[str, ...] = ()
    hold: bool = False
    group: tuple[int, ...] | None = None
    seconds: float | None = None
    memory_mib: int | None = None


class Task(_Strict):
    """The graded part of a lab: one function or class of lab.py."""

    id: str
    title: str
    points: float
    hints: tuple[str, ...]
    case: tuple[Case, ...]

    @property
    def cases(self) -> tuple[Case, ...]:
        """All runs of this task, in the order they are tried."""
        return self.case


class Mistake(_Strict):
    """A wrong way that only this lab knows: what it is and why it is wrong, told to the learner."""

    id: str
    what: str
    why: str


class LabLimits(_Strict):
    """Seconds of wall time a case, MiB of memory a rank."""

    seconds: float = 20.0
    memory_mib: int = 4096


class _LabFile(_Strict):
    title: str
    level: int
    summary: str
    task: tuple[Task, ...]
    explain: str = ""
    explain_points: float = 0.0
    limits: LabLimits = LabLimits()
    mistake: tuple[Mistake, ...] = ()


class Lab(msgspec.Struct, frozen=True, kw_only=True):
    """A lab: `folder` holds README.md, lab.py, lab.toml, run.py, checks.py; `solution` its answered twin.

    `explain` is the question of the hand-graded explanation, worth `explain_points`.
    """

    name: str
    folder: Path
    solution: Path
    title: str
    level: int
    summary: str
    tasks: tuple[Task, ...]
    limits: LabLimits
    mistakes: dict[str, Mistake]
    explain: str
    explain_points: float

    @property
    def assignment(self) -> str:
        """The name of the nbgrader assignment this lab is handed in as."""
        return f"lab-{self.name}"


class Assignment(msgspec.Struct, frozen=True, kw_only=True):
    """What a learner hands in. `source` is the text it is built from (None where sources are not shipped)."""

    name: str
    kind: Literal["notebook", "quiz", "lab"]
    title: str
    source: Path | None
    notebook: Path
    release: Path
    lab: str | None = None
    quiz: Quiz | None = None
    items: tuple[str, ...] = ()


class Course(msgspec.Struct, frozen=True, kw_only=True):
    """All content of one course, validated."""

    root: Path
    title: str
    limits: Limits
    engine: Engine
    assignments: tuple[Assignment, ...]
    misconceptions: dict[str, Misconception]
    items: dict[str, Item]
    labs: dict[str, Lab]

    def assignment(self, name: str) -> Assignment:
        """The assignment called `name`. Raises KeyError with the names there are."""
        for assignment in self.assignments:
            if assignment.name == name:
                return assignment
        known = ", ".join(a.name for a in self.assignments)
        raise KeyError(f"no assignment {name!r} in this course; there are {known}")


def find_root(start: Path | None = None) -> Path:
    """The nearest folder at or above `start` (default: the working folder) that holds a course.toml, else the
    practice content of the installed package. Raises ContentError where there is neither.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "course.toml").is_file():
            return folder
    for folder in (INSTALLED, INSTALLED.parents[1]):
        if (folder / "course.toml").is_file():
            return folder
    raise ContentError(
        f"{here}: no course.toml here or above; run this inside a course or name one with --course"
    )


def load(root: Path) -> Course:
    """Everything in the course at `root`. Raises ContentError on the first thing that is wrong."""
    root = root.resolve()
    file = TomlFile(root / "course.toml")
    head = file.into(_CourseFile)
    misconceptions = _misconceptions(root / "quizbank/misconceptions.toml")
    items = _bank(root / "quizbank", misconceptions)
    labs = {lab.name: lab for lab in _labs(root, misconceptions)}
    assignments = [
        *_notebooks(root),
        *_quizzes(root, head, items, file),
        *map(_lab_assignment(root), labs.values()),
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
    entries = file.into(_MisconceptionFile).misconception
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
        bank = file.into(_BankFile)
        for index, item in enumerate(bank.item):
            at = ("item", index)
            if item.id in items:
                raise file.error((*at, "id"), f"{item.id!r} is taken; ids are never reused")
            if sum(reason.right for reason in item.reason) != 1:
                raise file.error((*at, "reason"), "exactly one reason is right")
            for number, reason in enumerate(item.reason):
                if not reason.right and not reason.refutation.strip():
                    raise file.error((*at, "reason", number), "a wrong reason needs its refutation")
            for name in [*item.misconceptions, *(r.misconception for r in item.reason if r.misconception)]:
                if name not in known:
                    raise file.error(at, f"no misconception {name!r} in misconceptions.toml")
            items[item.id] = msgspec.structs.replace(item, topic=bank.topic)
    return items


def _labs(root: Path, known: dict[str, Misconception]) -> list[Lab]:
    labs = []
    for path in sorted((root / "gpu_labs").glob("*/lab.toml")):
        file = TomlFile(path)
        head = file.into(_LabFile)
        for index, task in enumerate(head.task):
            _positive(
                task.points, lambda index=index: file.error(("task", index, "points"), "more than 0 points")
            )  # type: ignore[misc]
            if not task.case:
                raise file.error(("task", index), "a task without a case checks nothing")
            for number, case in enumerate(task.case):
                if case.world < 1 or any(not 0 <= rank < case.world for rank in case.group or ()):
                    raise file.error(
                        ("task", index, "case", number), "ranks run from 0 to world − 1, world ≥ 1"
                    )
        _distinct(
            (t.id for t in head.task), lambda name, file=file: file.error((), f"task {name!r} stands twice")
        )  # type: ignore[misc]
        for index, mistake in enumerate(head.mistake):
            if mistake.id in known:
                raise file.error(
                    ("mistake", index, "id"), f"{mistake.id!r} is a misconception already: name that"
                )
        labs.append(
            Lab(
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
        )
    return labs


def _notebooks(root: Path) -> list[Assignment]:
    """From the text sources; where there are none (an installed wheel), from what is released."""
    sources = sorted((root / "solutions/notebooks").glob("*.py"))
    if sources:
        return [_assignment(root, path.stem, "notebook", _title(path), path) for path in sources]
    folders = sorted(p for p in (root / "exercises").glob("*") if p.is_dir())
    plain = [p for p in folders if not p.name.startswith(("lab-", "quiz-"))]
    return [_assignment(root, p.name, "notebook", p.name, None) for p in plain]


def _quizzes(root: Path, head: _CourseFile, items: dict[str, Item], file: TomlFile) -> list[Assignment]:
    found = []
    for index, quiz in enumerate(head.quiz):
        chosen = tuple(item.id for item in items.values() if item.topic in quiz.topics)
        if not chosen:
            raise file.error(
                ("quiz", index, "topics"), f"no item of the bank has a topic of {list(quiz.topics)}"
            )
        made = _assignment(root, quiz.name, "quiz", quiz.title, root / "course.toml")
        found.append(msgspec.structs.replace(made, quiz=quiz, items=chosen))
    return found


def _lab_assignment(root: Path) -> Any:
    def make(lab: Lab) -> Assignment:
        made = _assignment(root, lab.assignment, "lab", lab.title, lab.solution / "solution.py")
        return msgspec.structs.replace(made, lab=lab.name)

    return make


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


def _distinct(names: Any, error: Any) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise error(name)
        seen.add(name)


def _positive(number: float, error: Any) -> None:
    if not (math.isfinite(number) and number > 0):
        raise error()
