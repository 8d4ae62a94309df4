"""The frozen types of a course's content; `course.py` finds and validates what fills them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from autograder.item import Item, Question, Strict
from autograder.tomlfile import ContentError

__all__ = ["Assignment", "BankFile", "Course", "Item", "Lab", "Misconception", "Question", "Quiz", "Strict"]


class Limits(Strict, frozen=True):
    """What a notebook may use. Seconds are wall time; `function_seconds` bounds one call of a learner's function."""

    cell_seconds: float = 30.0
    notebook_seconds: float = 180.0
    function_seconds: float = 5.0
    memory_mib: int = 2048
    output_kib: int = 1024


class Slurm(Strict, frozen=True):
    """How hand-ins are given to Slurm. A chunk is one allocation: at most `chunk_jobs` hand-ins, `cores` of them at
    once, of at most `chunk_minutes` by their own limits (one hand-in may be longer). `resubmits`: how often what was
    cancelled, lost or on a node that failed is submitted again. `extra`: more options of sbatch, as `--name=value`.
    """

    partition: str = ""
    account: str = ""
    qos: str = ""
    gpu_type: str = ""
    chunk_jobs: Annotated[int, msgspec.Meta(ge=1)] = 32
    chunk_minutes: Annotated[int, msgspec.Meta(ge=1)] = 60
    cores: Annotated[int, msgspec.Meta(ge=1)] = 4
    poll_seconds: Annotated[float, msgspec.Meta(gt=0)] = 15.0
    resubmits: Annotated[int, msgspec.Meta(ge=0)] = 2
    extra: tuple[Annotated[str, msgspec.Meta(pattern="^--[a-z][a-z-]*(=[^\\n]*)?$")], ...] = ()


class Engine(Strict, frozen=True):
    """Where judge and box run. `jobs` hand-ins at once, 0: one for each core; `memory_mib` that may be set aside for
    them together, 0: what the machine has. `slurm` is for `--engine slurm`.
    """

    jobs: int = 0
    memory_mib: int = 0
    slurm: Slurm = Slurm()


class Quiz(Strict, frozen=True):
    """A quiz notebook made from the bank: items of `topics` and `forms` (empty: all forms), `points` points an item.

    `count` items (0: all of them) fill as many slots. `draw` says with what: "fixed" gives all learners the same
    items, "learner" draws for each learner from the items that compete for a slot. `items` names them outright.
    `confidence` asks how sure one is. A quiz of `use` "graded" holds graded items alone, and answers "recorded".
    """

    name: str
    title: str
    topics: tuple[str, ...] = ()
    forms: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    count: int = 0
    draw: Literal["fixed", "learner"] = "fixed"
    confidence: bool = False
    use: Literal["practice", "graded"] = "practice"
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
    given: dict[str, Any] = msgspec.field(default_factory=dict)
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
    slots: tuple[tuple[str, ...], ...] = ()

    @property
    def items(self) -> tuple[str, ...]:
        """The ids of all items of a quiz: one a slot where they are fixed, else all that compete for one."""
        return tuple(name for slot in self.slots for name in slot)


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
