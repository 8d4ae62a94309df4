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
    Quiz,
)
from autograder.item import FORMS, Essay, Numeric, Ordering, Question, SpotError, Step
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
            _check_item(item, known, file, at)
            items[item.id] = msgspec.structs.replace(item, topic=bank.topic)
    return items


def _check_item(item: Question, known: dict[str, Misconception], file: TomlFile, at: Field) -> None:
    """What an item must have to be asked at all; what makes it a good one is `quiz/lint.py`'s."""
    if not isinstance(item, Numeric | Ordering | Essay):
        _check_reasons(item, known, file, at)
    if isinstance(item, SpotError):
        if sum(step.wrong for step in item.step) != 1:
            raise file.error((*at, "step"), "exactly one step is wrong")
        _check_steps(item.step, known, file, at, needs=lambda step: not step.wrong)
    if isinstance(item, Ordering):
        if sorted(item.shown) != list(range(1, len(item.step) + 1)) or len(item.step) < 3:
            raise file.error(
                (*at, "shown"), "three steps or more, and `shown` names each of them once, from 1"
            )
        _check_steps(item.step, known, file, at, needs=lambda step: step is not item.step[0])
    if isinstance(item, Numeric):
        for number, wrong in enumerate(item.wrong):
            if not wrong.refutation.strip():
                raise file.error((*at, "wrong", number), "a wrong value needs its refutation")
            _known(wrong.misconception, known, file, (*at, "wrong", number, "misconception"))
    if isinstance(item, Essay) and not math.isclose(math.fsum(mark.share for mark in item.rubric), 1):
        raise file.error((*at, "rubric"), "the shares of a rubric add up to 1")
    for name in item.misconceptions:
        _known(name, known, file, (*at, "misconceptions"))


def _check_reasons(item: Question, known: dict[str, Misconception], file: TomlFile, at: Field) -> None:
    if sum(reason.right for reason in item.reasons) != 1:
        raise file.error((*at, "reason"), "exactly one reason is right")
    for number, reason in enumerate(item.reasons):
        if not reason.right and not reason.refutation.strip():
            raise file.error((*at, "reason", number), "a wrong reason needs its refutation")
        _known(reason.misconception, known, file, (*at, "reason", number, "misconception"))


def _check_steps(
    steps: tuple[Step, ...],
    known: dict[str, Misconception],
    file: TomlFile,
    at: Field,
    needs: Callable[[Step], bool],
) -> None:
    for number, step in enumerate(steps):
        if needs(step) and not step.refutation.strip():
            raise file.error((*at, "step", number), "this step needs what is said to who gets it wrong")
        _known(step.misconception, known, file, (*at, "step", number, "misconception"))


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
        made = _assignment(root, quiz.name, "quiz", quiz.title, root / "course.toml")
        found.append(
            msgspec.structs.replace(made, quiz=quiz, slots=_slots(quiz, items, file, ("quiz", index)))
        )
    return found


def _slots(quiz: Quiz, items: dict[str, Item], file: TomlFile, at: Field) -> tuple[tuple[str, ...], ...]:
    """What may stand in each slot of a quiz. Items that compete for a slot have one form, so that it is answered in
    one way, and no item competes for two.
    """
    if not (math.isfinite(quiz.points) and quiz.points > 0):
        raise file.error((*at, "points"), "an item is worth more than 0 points")
    for number, form in enumerate(quiz.forms):
        if form not in FORMS:
            raise file.error((*at, "forms", number), f"no form {form!r}; there are {', '.join(FORMS)}")
    for number, name in enumerate(quiz.items):
        if name not in items:
            raise file.error((*at, "items", number), f"no item {name!r} in the bank")
    chosen = [
        item
        for item in (map(items.__getitem__, quiz.items) if quiz.items else items.values())
        if quiz.items or (item.topic in quiz.topics and item.form in (quiz.forms or FORMS))
        if item.use == quiz.use
    ]
    if not chosen:
        of = f"a topic of {list(quiz.topics)}, a form of {list(quiz.forms or FORMS)}"
        raise file.error((*at, "topics"), f"no {quiz.use} item of the bank has {of}")
    count = quiz.count or len(chosen)
    if not 0 < count <= len(chosen):
        raise file.error((*at, "count"), f"{count} items are asked for, {len(chosen)} are there")
    if quiz.draw == "fixed":
        # spread evenly over what there is, so that no topic or form is left out for standing late
        return tuple((chosen[place * len(chosen) // count].id,) for place in range(count))
    if any(isinstance(item, Essay) for item in chosen):
        raise file.error(
            (*at, "forms"), "an essay is graded by hand, so it is not drawn: name the other forms"
        )
    return _dealt(chosen, count)


def _dealt(chosen: list[Item], count: int) -> tuple[tuple[str, ...], ...]:
    """`count` slots that share out all of `chosen`, each with items of one form; larger forms get more slots."""
    by_form: dict[str, list[str]] = {}
    for item in chosen:
        by_form.setdefault(item.form, []).append(item.id)
    slots = dict.fromkeys(by_form, 0)
    for _ in range(count):
        # the form with the most items for each slot it would then have
        form = max(by_form, key=lambda name: len(by_form[name]) / (slots[name] + 1))
        slots[form] += 1
    return tuple(
        tuple(names[place :: slots[form]]) for form, names in by_form.items() for place in range(slots[form])
    )


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
