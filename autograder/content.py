"""The frozen types of a course's content; `course.py` finds and validates what fills them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import msgspec

from autograder.tomlfile import ContentError


class Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a content file: unknown fields are errors."""


class Limits(Strict, frozen=True):
    """What a notebook may use. Seconds are wall time; `function_seconds` bounds one call of a learner's function."""

    cell_seconds: float = 30.0
    notebook_seconds: float = 180.0
    function_seconds: float = 5.0
    memory_mib: int = 2048
    output_kib: int = 1024


class Engine(Strict, frozen=True):
    """Where judge and box run. `jobs` hand-ins at once, 0: one for each core; `memory_mib` that may be set aside for
    them together, 0: what the machine has.
    """

    jobs: int = 0
    memory_mib: int = 0


class Quiz(Strict, frozen=True):
    """A quiz notebook made from the bank: all items of `topics`, `points` points an item."""

    name: str
    title: str
    topics: tuple[str, ...]
    points: float = 2.0


class CourseFile(Strict, frozen=True):
    """course.toml."""

    title: str
    order: tuple[str, ...] = ()
    limits: Limits = Limits()
    engine: Engine = Engine()
    quiz: tuple[Quiz, ...] = ()


class Misconception(Strict, frozen=True):
    """A named wrong belief. `refutation` is told to learners; `see` says where the course explains it."""

    id: str
    name: str
    refutation: str
    see: str = ""


class MisconceptionFile(Strict, frozen=True):
    """quizbank/misconceptions.toml."""

    misconception: tuple[Misconception, ...]


class Reason(Strict, frozen=True):
    """One *because* of a two-tier item; a wrong one has its refutation and the misconception it shows."""

    text: str
    right: bool = False
    misconception: str | None = None
    refutation: str = ""


class Item(Strict, frozen=True):
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


class BankFile(Strict, frozen=True):
    """One topic of the quizbank."""

    topic: str
    item: tuple[Item, ...]


class Case(Strict, frozen=True):
    """One run of a task: `world` ranks, what checks.py's given() needs to know, and what the switch does.

    `calls` are the calls the switch offers (empty: all); `hold` keeps completions back; `scramble` changes messages on
    their way; `group` are the global ranks of the subgroup the task runs in (None: all); `seconds` and
    `memory_mib` override the lab's limits. On a `backend` other than the switch the ranks share a loopback network, the
    record is empty, and a case decides equality only: outputs that come back and are wrong fail it, nothing else does.
    """

    world: int
    use: Literal["learner", "hidden"] = "hidden"
    given: dict[str, Any] = {}
    calls: tuple[str, ...] = ()
    hold: bool = False
    scramble: bool = False
    backend: Literal["switch", "gloo"] = "switch"
    group: tuple[int, ...] | None = None
    seconds: float | None = None
    memory_mib: int | None = None


class Task(Strict, frozen=True):
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


class Mistake(Strict, frozen=True):
    """A wrong way that only this lab knows: what it is and why it is wrong, told to the learner."""

    id: str
    what: str
    why: str


class LabLimits(Strict, frozen=True):
    """Seconds of wall time a case, MiB of memory a rank at most, and MiB a rank that a runner sets aside when it
    decides how many hand-ins fit on a machine at once.
    """

    seconds: float = 20.0
    memory_mib: int = 4096
    reserve_mib: int = 512


class LabFile(Strict, frozen=True):
    """gpu_labs/<lab>/lab.toml."""

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
        """The assignment called `name`. Raises ContentError with the names there are."""
        for assignment in self.assignments:
            if assignment.name == name:
                return assignment
        known = ", ".join(a.name for a in self.assignments)
        raise ContentError(f"no assignment {name!r} in this course; there are {known}")
