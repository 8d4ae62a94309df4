"""What the class report is made of: the verdicts of a class, laid out by assignment, item and learner."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder import verdict as verdicts
from autograder.content import Assignment, Course
from autograder.intake import names
from autograder.tomlfile import ContentError
from autograder.verdict import Part, PartStatus, Status, Verdict


@dataclass(frozen=True)
class Answered:
    """What one learner earned with one item: a share between 0 and 1, and the parts it is made of. `share` is None
    while a part of it waits for a person."""

    share: float | None
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Sheet:
    """One assignment of a class: the verdicts there are, by learner, and the items in their order.

    An item is what stands or falls together: a question of a quiz, one answer of an exercise, a task of a lab.
    """

    assignment: Assignment
    verdicts: Mapping[str, Verdict]
    items: tuple[str, ...]
    answers: Mapping[str, Mapping[str, Answered]]

    def statuses(self, learners: Iterable[str]) -> dict[str, int]:
        """How many learners have which status, in the order of `STATUSES`; zero counts stand too."""
        counts = dict.fromkeys(STATUSES, 0)
        for learner in learners:
            counts[status(self.verdicts.get(learner))] += 1
        return counts

    def scores(self) -> dict[str, float]:
        """The share of all points of each learner whose score stands."""
        return {
            learner: verdict.score / verdict.max_score
            for learner, verdict in self.verdicts.items()
            if verdict.status is Status.GRADED and verdict.score is not None and verdict.max_score
        }

    def table(self) -> tuple[list[str], list[list[float]]]:
        """(learners, rows of shares in the order of `items`) of those who have a share for every item: what a
        correlation needs. What nobody answered by machine alone (an essay that waits) is left out by `items`.
        """
        learners, rows = [], []
        for learner, answers in self.answers.items():
            shares = [answers[item].share if item in answers else None for item in self.items]
            known = [share for share in shares if share is not None]
            if known and len(known) == len(shares):
                learners.append(learner)
                rows.append(known)
        return learners, rows


STATUSES = ("graded", "waits for a person", "ungradable", "rejected", "blocked", "absent")
"""What a learner's hand-in can be, as the report counts it."""


@dataclass(frozen=True)
class ClassData:
    """A class: its course, its learners and a sheet for each assignment that anybody handed in."""

    course: Course
    learners: tuple[str, ...]
    sheets: tuple[Sheet, ...]


def status(verdict: Verdict | None) -> str:
    """Which of `STATUSES` a verdict is."""
    if verdict is None:
        return "absent"
    if verdict.status is Status.GRADED:
        states = {part.status for part in verdict.parts}
        if PartStatus.BLOCKED in states:
            return "blocked"
        return "waits for a person" if verdict.score is None else "graded"
    return str(verdict.status)


def read(course: Course, results: Path, learners: Iterable[str] = ()) -> ClassData:
    """The class whose verdicts lie below `results`; `learners` are more of it, who may have handed in nothing. Raises
    ContentError for a file that is no verdict, and where there is not one.
    """
    found: dict[str, dict[str, Verdict]] = {}
    for folder in sorted(results.iterdir()) if results.is_dir() else []:
        if folder.is_symlink() or not folder.is_dir() or not names.is_student(folder.name):
            continue
        for path in sorted(folder.glob("*.json")):
            try:
                verdict = verdicts.read(path)
            except ValueError as error:
                raise ContentError(f"{error}; grade this hand-in again, or move the file away") from error
            found.setdefault(folder.name, {})[verdict.assignment] = verdict
    if not found:
        raise ContentError(
            f"{results}: no verdicts here; run `shardlab grade` first, or name the folder with --results"
        )
    everybody = tuple(sorted({*found, *learners}))
    sheets = []
    for assignment in course.assignments:
        of = {
            learner: found[learner][assignment.name]
            for learner in everybody
            if assignment.name in found.get(learner, {})
            and found[learner][assignment.name].status is not Status.ABSENT
        }
        if of:
            sheets.append(sheet(assignment, of))
    return ClassData(course, everybody, tuple(sheets))


def sheet(assignment: Assignment, of: Mapping[str, Verdict]) -> Sheet:
    """The sheet of one assignment, from its verdicts by learner."""
    answers: dict[str, dict[str, Answered]] = {}
    order: dict[str, None] = {}
    for learner, verdict in of.items():
        if verdict.status is not Status.GRADED:
            continue
        grouped: dict[str, list[Part]] = {}
        for part in verdict.parts:
            grouped.setdefault(item_of(assignment, part), []).append(part)
        answers[learner] = {item: _answered(parts) for item, parts in grouped.items()}
        order.update(dict.fromkeys(grouped))
    # what waits for a person in every hand-in is no item of the machine's: it has no share to compute with
    items = [
        item
        for item in order
        if any(item in given and given[item].share is not None for given in answers.values())
    ]
    return Sheet(assignment, of, tuple(_sorted(assignment, items)), answers)


def item_of(assignment: Assignment, part: Part) -> str:
    """The item a part belongs to: `q001` of `q001/because`, `2.1/dp` itself, a task's id."""
    return part.id.split("/")[0] if assignment.kind == "quiz" else part.id


def _answered(parts: Sequence[Part]) -> Answered:
    most = math.fsum(part.max_score for part in parts)
    scores = [part.score for part in parts]
    if not most or any(score is None for score in scores):
        return Answered(None, tuple(parts))
    return Answered(math.fsum(score for score in scores if score is not None) / most, tuple(parts))


def _sorted(assignment: Assignment, items: Sequence[str]) -> list[str]:
    """In the quiz's own order where learners draw different questions, else as the verdicts have them."""
    place = {name: number for number, name in enumerate(assignment.items)}
    return sorted(items, key=lambda item: place.get(item, -1))
