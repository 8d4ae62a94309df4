"""The verdict: the one record of what a submission is worth and why.

Made by the judge, read by gradebook, feedback and report; the same for notebooks, quizzes and labs.
`results/<student>/<assignment>.json` holds one, written by atomic rename, so that a reader never meets half of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Any

import msgspec

from autograder import durable

SCHEMA = 1


class Status(StrEnum):
    """What became of a submission."""

    GRADED = "graded"
    UNGRADABLE = "ungradable"  # we could not run it; the reason says why
    REJECTED = "rejected"  # a bad archive or file, refused before anything ran
    ABSENT = "absent"  # nothing was handed in
    BLOCKED = "blocked"  # our fault or the machine's


class PartStatus(StrEnum):
    """What became of one answer."""

    PASSED = "passed"
    PARTIAL = "partial"
    FAILED = "failed"
    MISSING = "missing"  # untouched, or NotImplementedError
    CRASHED = "crashed"  # the learner's process ended where it should not
    TIMEOUT = "timeout"
    LIMIT = "limit"  # memory, processes, disk, output: the reason names which
    PENDING = "pending"  # waits for a hand grade
    BLOCKED = "blocked"  # our fault or the machine's: no score, waits for a person


UNSCORED = frozenset({PartStatus.PENDING, PartStatus.BLOCKED})
"""Statuses that carry no score: the gradebook keeps the cell open for a person."""

_ZERO = frozenset(
    {
        PartStatus.FAILED,
        PartStatus.MISSING,
        PartStatus.CRASHED,
        PartStatus.TIMEOUT,
        PartStatus.LIMIT,
    }
)


class Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer and what it is worth.

    `id` is `exercise/answer` in notebooks (`2.1/dp`), the task's id in labs. `score` is in points, between 0 and
    `max_score`, and None exactly for the statuses in `UNSCORED`. `misconception` is an id of
    quizbank/misconceptions.toml or of the lab's own mistakes. `evidence` is for graders (expected, inputs drawn,
    measured bytes): it may hold the key, so feedback for learners never shows it. `key` and `answer` are hashes of
    the judge's key and of the learner's source: `grade --changed` and re-opened hand grades rest on them.
    """

    id: str
    status: PartStatus
    score: float | None
    max_score: float
    reason: str = ""
    misconception: str | None = None
    evidence: dict[str, Any] = {}
    key: str = ""
    answer: str = ""

    def __post_init__(self) -> None:
        _check_score(self.id, self.score, self.max_score)
        if (self.score is None) != (self.status in UNSCORED):
            raise ValueError(f"part {self.id}: status {self.status} does not go with score {self.score}")
        if self.status in _ZERO and self.score != 0:
            raise ValueError(f"part {self.id}: status {self.status} is worth 0, not {self.score}")
        if self.status is PartStatus.PASSED and self.score != self.max_score:
            raise ValueError(f"part {self.id}: passed is worth {self.max_score}, not {self.score}")


class Verdict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What one hand-in is worth and why.

    `seconds` is wall time spent on this hand-in, `run` an id of the grading run, `notes` what was repaired or ignored
    in the hand-in ("cell ex-2-1 stood twice: the first with our source counts"), `sandboxed` False when
    `--no-sandbox` was asked for. `evidence` says what the verdict rests on, see `engine.evidence`: versions, limits,
    the seed and the commitment to it. It is for graders: feedback for learners never shows it.
    """

    student: str
    assignment: str
    status: Status
    score: float | None
    max_score: float
    parts: tuple[Part, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    engine: str = "local"
    device: str = "cpu"
    sandboxed: bool = True
    submission: str = ""
    run: str = ""
    evidence: dict[str, Any] = {}
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        if self.schema != SCHEMA:
            raise ValueError(f"verdict schema {self.schema}: this program reads {SCHEMA}")
        _check_score(f"{self.student}/{self.assignment}", self.score, self.max_score)
        if self.status is not Status.GRADED and self.status is not Status.REJECTED and self.score is not None:
            raise ValueError(f"{self.student}/{self.assignment}: {self.status} carries no score")
        if self.status is Status.GRADED and self.score != total(self.parts):
            raise ValueError(
                f"{self.student}/{self.assignment}: score {self.score} is not the sum of its parts"
            )


def total(parts: Iterable[Part]) -> float | None:
    """The points of all parts together; None while a part waits for a person."""
    scores = [part.score for part in parts]
    return None if any(score is None for score in scores) else math.fsum(s for s in scores if s is not None)


def scored(part_id: str, fraction: float, max_score: float, reason: str, **more: Any) -> Part:
    """A part worth `fraction` (0..1) of `max_score`: failed, partial or passed."""
    if not 0 <= fraction <= 1:
        raise ValueError(f"part {part_id}: fraction {fraction} outside 0..1")
    status = PartStatus.PASSED if fraction == 1 else PartStatus.PARTIAL if fraction else PartStatus.FAILED
    return Part(
        id=part_id, status=status, score=fraction * max_score, max_score=max_score, reason=reason, **more
    )


def unscored(part_id: str, status: PartStatus, max_score: float, reason: str, **more: Any) -> Part:
    """A part that earns nothing (missing, crashed, timeout, limit) or waits for a person (pending, blocked)."""
    score = None if status in UNSCORED else 0.0
    return Part(id=part_id, status=status, score=score, max_score=max_score, reason=reason, **more)


def without_score(
    student: str, assignment: str, status: Status, max_score: float, reason: str, **more: Any
) -> Verdict:
    """A verdict that is no score: ungradable, absent or blocked, and why."""
    return Verdict(
        student=student,
        assignment=assignment,
        status=status,
        score=None,
        max_score=max_score,
        reason=reason,
        **more,
    )


def write(verdict: Verdict, results: Path) -> Path:
    """Writes `results/<student>/<assignment>.json` whole or not at all, and returns its path."""
    path = results / verdict.student / f"{verdict.assignment}.json"
    durable.write(path, msgspec.json.format(msgspec.json.encode(verdict), indent=1) + b"\n")
    return path


def read(path: Path) -> Verdict:
    """The verdict in `path`. Raises ValueError with the file's name when it is not one."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Verdict)
    except msgspec.MsgspecError as error:
        raise ValueError(f"{path}: not a verdict: {error}") from error


def _check_score(what: str, score: float | None, max_score: float) -> None:
    if not (math.isfinite(max_score) and max_score >= 0):
        raise ValueError(f"{what}: max_score {max_score} is not a finite number of points")
    if score is not None and not (math.isfinite(score) and 0 <= score <= max_score):
        raise ValueError(f"{what}: score {score} outside 0..{max_score}")
