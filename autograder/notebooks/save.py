"""nbgrader's SaveAutoGrades, replaced: enters what the verdict says, which outputs alone cannot carry."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.preprocessors.base import NbGraderPreprocessor
from traitlets import Unicode

from autograder import course, verdict
from autograder.engine import explanation
from autograder.handin import source
from autograder.handin.source import Source, SourceCell
from autograder.notebooks import extensions
from autograder.verdict import Part, PartStatus, Status, Verdict, scored, total, unscored

EARLIER = "hand_grade_of_an_earlier_answer"
"""Marks the evidence of a part whose cell still holds a hand grade that was given for another answer."""


class SaveGrades(NbGraderPreprocessor):
    """Writes scores, statuses and comments into the gradebook, and the verdict into results/."""

    root = Unicode(help="the course's folder").tag(config=True)
    results = Unicode(help="where verdicts are written: <results>/<student>/<assignment>.json").tag(
        config=True
    )

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        found: Verdict | None = resources.get("shardlab")
        if found is None:
            self.log.error("not executed (--no-execute?): nothing is entered, every cell waits for a person")
            return nb, resources
        known = source.read(course.load(Path(self.root)).assignment(found.assignment).notebook)
        results = Path(self.results)
        before = previous(results, found.student, found.assignment)
        with Gradebook(resources["nbgrader"]["db_url"]) as gradebook:
            final = enter(gradebook, found, known, before)
            gradebook.db.commit()
            # before nbgrader works out how late this is
            extensions.enter(gradebook, Path(self.root), found.student, found.assignment)
        verdict.write(final, results)
        resources["shardlab"] = final
        return nb, resources


def previous(results: Path, student: str, assignment: str) -> Verdict | None:
    """The verdict that stands, None where there is none that can be read."""
    try:
        return verdict.read(results / student / f"{assignment}.json")
    except (OSError, ValueError):
        return None


def begin(results: Path, student: str, assignment: str, digest: str) -> None:
    """Replaces the verdict on an earlier hand-in by `blocked` until the new one is there, should grading not end.
    The answers' hashes stay, so that hand grades are not lost by it.
    """
    before = previous(results, student, assignment)
    if before is None or before.submission == digest:
        return
    why = "grading began and did not end: grade again"
    more = {"status": Status.BLOCKED, "score": None, "reason": why, "submission": digest}
    verdict.write(msgspec.structs.replace(before, parts=remembered(before, why), **more), results)


def remembered(before: Verdict | None, why: str) -> tuple[Part, ...]:
    """The parts of a verdict that is `blocked`: no score, but what was answered before, so that a hand grade given for
    the same answer stands when grading works again.
    """
    return tuple(
        unscored(
            p.id,
            PartStatus.BLOCKED,
            p.max_score,
            why,
            answer=p.answer,
            key=p.key,
            evidence=_earlier(p.evidence),
        )
        for p in (before.parts if before else ())
    )


def _earlier(evidence: Mapping[str, Any]) -> dict[str, Any]:
    return {EARLIER: True} if evidence.get(EARLIER) else {}


def enter(gradebook: Gradebook, found: Verdict, known: Source, before: Verdict | None) -> Verdict:
    """Enters `found` into the gradebook and returns it with the hand grades that still stand. A hand grade stands
    while the answer it was given for is the same; otherwise its cell waits for a person again, and goes on waiting
    however often that other answer is entered.
    """
    old = answers(before, known) if before else {}
    new = answers(found, known)
    parts: list[Part] = []
    for cell in known.graded:
        mine = parts_of(found, cell)
        grade = _entry(gradebook.find_grade, cell.grade_id, found, known)
        if grade is None:
            continue
        score = total(mine) if mine and found.status is Status.GRADED else None
        if found.status is Status.REJECTED:
            score = 0.0
        grade.auto_score = score
        stands = grade.manual_score is not None and bool(old.get(cell.grade_id))
        stands = stands and old[cell.grade_id] == new.get(cell.grade_id)
        # nbgrader takes the mark off when a person grades
        if before and grade.needs_manual_grade:
            stands = stands and not any(part.evidence.get(EARLIER) for part in parts_of(before, cell))
        grade.needs_manual_grade = not stands if grade.manual_score is not None else score is None
        if stands and cell.kind == "essay" and mine:
            mine = (_by_hand(mine[0], grade.manual_score, grade.extra_credit),)
        if grade.manual_score is not None and not stands:
            mine = tuple(
                msgspec.structs.replace(part, evidence={**part.evidence, EARLIER: True}) for part in mine
            )
        parts += mine
    _comments(gradebook, found, known)
    if found.status is Status.BLOCKED:
        return msgspec.structs.replace(found, parts=remembered(before, found.reason) or found.parts)
    if found.status is not Status.GRADED:
        return found
    return msgspec.structs.replace(found, parts=tuple(parts), score=total(parts))


def parts_of(found: Verdict, cell: SourceCell) -> tuple[Part, ...]:
    """The parts of a verdict that belong to one graded cell."""
    if cell.kind == "essay":
        return tuple(part for part in found.parts if part.id == explanation.part_id(cell))
    if cell.kind == "task":
        return tuple(part for part in found.parts if part.id == cell.grade_id.removeprefix("task-"))
    return tuple(part for part in found.parts if part.id.startswith(f"{cell.exercise}/"))


def answers(found: Verdict, known: Source) -> dict[str, str]:
    """What each graded cell's answer was, as a hash; cells whose answer is not known are left out."""
    made = {cell.grade_id: "".join(part.answer for part in parts_of(found, cell)) for cell in known.graded}
    return {name: answer for name, answer in made.items() if answer}


def _by_hand(part: Part, manual: float, extra: float | None) -> Part:
    """The part as a person graded it. The gradebook may hold more than the maximum; a verdict does not."""
    points = manual + (extra or 0.0)
    share = min(1.0, max(0.0, points / part.max_score)) if part.max_score and math.isfinite(points) else 0.0
    return scored(part.id, share, part.max_score, "graded by hand", answer=part.answer)


def _entry(find: Callable[..., Any], name: str, found: Verdict, known: Source) -> Any:
    """A row of the gradebook; None where it has no such cell, which is only so when the verdict is `blocked`."""
    try:
        return find(name, known.name, found.assignment, found.student)
    except MissingEntry:
        if found.status is not Status.BLOCKED:
            raise
        return None


def _comments(gradebook: Gradebook, found: Verdict, known: Source) -> None:
    """nbgrader's comments stand at answer cells; the reasons stand below them already, in the check cell."""
    waiting: list[str] = []
    for cell in known.cells.values():
        if cell.kind in ("answer", "essay"):
            waiting.append(cell.grade_id)
        if cell.kind in ("check", "essay"):
            parts = parts_of(found, cell)
            untouched = bool(parts) and all(part.status is PartStatus.MISSING for part in parts)
            for name in waiting:
                entry = _entry(gradebook.find_comment, name, found, known)
                if entry is not None:
                    entry.auto_comment = "No response." if untouched else None
            waiting = []
