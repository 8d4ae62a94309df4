"""Judges one check cell: every part of its key, from what the talk brought and how the cell ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autograder.judge.function import FunctionPart
from autograder.judge.heard import NOTHING, Heard
from autograder.judge.key import Key
from autograder.judge.part import Judged, PartKey, Tell
from autograder.learner.check import no_item
from autograder.learner.values import MISSING
from autograder.verdict import Part, PartStatus, scored, unscored


@dataclass(frozen=True)
class CellFailure:
    """The cell did not end well: timeout, crashed, limit, blocked, or failed for an error in the cell."""

    status: PartStatus
    reason: str


UNDECIDED = "The judge could not decide this; a person will."


def judge_cell(
    key: Key,
    heard: Heard | None,
    *,
    seed: bytes,
    misconceptions: Mapping[str, Any],
    failure: CellFailure | None = None,
    answer_hash: str = "",
) -> tuple[Part, ...]:
    """The parts of the cell, in the key's order. Answers that came stand, whatever became of the cell; parts that
    were not answered get the failure's status, or `missing`. `seed` as in the talk. Never raises for what a learner
    did; an error in our own key makes its part `blocked`.
    """
    heard = heard or NOTHING
    tell = Tell(misconceptions, key.exercise)
    marks = {"key": key.digest, "answer": answer_hash}
    return tuple(_part(part, heard, seed, tell, failure, marks) for part in key.parts)


def _part(
    part: PartKey, heard: Heard, seed: bytes, tell: Tell, failure: CellFailure | None, marks: dict[str, str]
) -> Part:
    value = heard.answers.get(part.name, MISSING)
    if heard.ended == "broken" and (value.kind == "missing" or isinstance(part, FunctionPart)):
        judged = Judged(0, UNDECIDED, status=PartStatus.BLOCKED)
    elif value.kind == "missing":
        judged = _unanswered(part, heard, failure)
    else:
        try:
            judged = part.judge(heard, seed, tell)
        except Exception as error:  # our own key or judge failed: no learner pays for that
            judged = Judged(0, UNDECIDED, evidence={"error": repr(error)[:500]}, status=PartStatus.BLOCKED)
        if judged.status is PartStatus.CRASHED and failure is not None:
            judged = _failed(failure, judged.evidence)
    evidence = {**judged.evidence, **({"notes": list(heard.notes)} if heard.notes else {})}
    more = {**marks, "misconception": judged.misconception, "evidence": evidence}
    if judged.status is not None and judged.status is not PartStatus.FAILED:
        return unscored(part.id, judged.status, part.max_score, judged.reason, **more)
    return scored(part.id, judged.fraction, part.max_score, judged.reason, **more)


def _unanswered(part: PartKey, heard: Heard, failure: CellFailure | None) -> Judged:
    if part.item:
        bare = heard.answers.get(part.item, MISSING)
        if bare.kind != "missing":
            words = no_item(part.item, part.asks)
            return Judged(0, words[0].upper() + words[1:], evidence={"given": str(bare)})
    if heard.submitted:
        return Judged(0, "Not answered yet.", status=PartStatus.MISSING)
    if failure is not None:
        return _failed(failure, {})
    if heard.ended == "closed":
        return Judged(0, "The kernel ended before this was handed in.", status=PartStatus.CRASHED)
    if heard.ended == "late":
        return Judged(0, "Nothing was handed in in time.", status=PartStatus.TIMEOUT)
    words = (
        "Nothing was handed in: the cell never reached `submit`, or something else is called `submit` here."
    )
    return Judged(0, words, status=PartStatus.MISSING)


def _failed(failure: CellFailure, evidence: dict[str, Any]) -> Judged:
    return Judged(0, failure.reason, evidence=evidence, status=failure.status)


def functions(key: Key) -> tuple[FunctionPart, ...]:
    """The functions of a key: what the talk has to call."""
    return tuple(part for part in key.parts if isinstance(part, FunctionPart))
