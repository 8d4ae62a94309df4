"""Grades a hand-in again with the seed of a verdict, and says in what the two verdicts differ."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from autograder.content import Course
from autograder.engine.notebook import grade_notebook
from autograder.handin import digest
from autograder.verdict import Part, PartStatus, Status, Verdict


class Impossible(ValueError):
    """This verdict cannot be replayed on what lies there; the message says why."""


def replay(course: Course, verdict: Verdict, folder: Path, *, sandboxed: bool) -> Verdict:
    """The verdict that is reached now on the hand-in in `folder`, with the seed of `verdict`. Writes nothing. Raises
    Impossible where `verdict` keeps no seed, or where something else is handed in by now, ContentError where the
    course has no such assignment.
    """
    assignment = course.assignment(verdict.assignment)
    kept = verdict.evidence.get("seed")
    if not isinstance(kept, str):
        raise Impossible(f"it keeps no seed: nothing ran for this verdict ({verdict.status})")
    try:
        seed = bytes.fromhex(kept)
    except ValueError:
        raise Impossible(f"its seed is no hexadecimal number: {kept[:40]!r}") from None
    if digest.of_folder(folder) != verdict.evidence.get("files"):
        raise Impossible(f"{folder} holds other files than those this verdict is on")
    again, _ = grade_notebook(
        course,
        assignment,
        verdict.student,
        folder,
        sandboxed=sandboxed,
        run=verdict.run,
        engine=verdict.engine,
        seed=seed,
    )
    return again


def differences(before: Verdict, again: Verdict) -> list[str]:
    """Every way in which a verdict differs from its replay, in words; empty where they are the same. A grade given by
    hand is nobody's to replay: only that there was the same to grade.
    """
    found = list(_whole(before, again))
    old, new = ({part.id: part for part in verdict.parts} for verdict in (before, again))
    for name in dict.fromkeys([*old, *new]):
        if name not in old or name not in new:
            found.append(f"{name}: only in the {'verdict' if name in old else 'replay'}")
        else:
            found += [f"{name}: {line}" for line in _part(old[name], new[name])]
    return found


def _whole(before: Verdict, again: Verdict) -> Iterator[str]:
    if before.status != again.status:
        why = f" ({again.reason})" if again.reason else ""
        yield f"status: {before.status} in the verdict, {again.status} in the replay{why}"
    if before.evidence.get("commitment") != again.evidence["commitment"]:
        yield "commitment: not of this seed"
    if before.submission != again.submission:
        yield "submission: another hash of what was graded"
    same_points = before.score == again.score or any(map(_by_hand, before.parts, again.parts))
    if not same_points and before.status == again.status:
        yield f"score: {_points(before.score)} in the verdict, {_points(again.score)} in the replay"
    if before.max_score != again.max_score:
        yield f"max_score: {before.max_score:g} in the verdict, {again.max_score:g} in the replay"
    if before.evidence.get("switch") != again.evidence.get("switch") and before.status is Status.GRADED:
        yield "switch: the ranks called something else"


def _part(old: Part, new: Part) -> Iterator[str]:
    if old.key != new.key:
        yield "the key has changed since"
    if old.answer != new.answer:
        yield "another hash of the answer"
    if _by_hand(old, new):
        return
    for what in ("status", "misconception"):
        if getattr(old, what) != getattr(new, what):
            yield f"{what}: {getattr(old, what)} in the verdict, {getattr(new, what)} in the replay"
    if (old.score, old.max_score) != (new.score, new.max_score):
        yield (
            f"score: {_points(old.score)} of {old.max_score:g} in the verdict, "
            f"{_points(new.score)} of {new.max_score:g} in the replay"
        )


def _by_hand(old: Part, new: Part) -> bool:
    """Whether a person graded what waits for a person in the replay."""
    graded = old.status in (PartStatus.PASSED, PartStatus.PARTIAL, PartStatus.FAILED)
    return old.id == new.id and new.status is PartStatus.PENDING and graded


def _points(score: float | None) -> str:
    return "none" if score is None else f"{score:g}"
