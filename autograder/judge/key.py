"""Reads the key of an exercise: runs the hidden-test region of the course's own source.

The region is trusted: it comes from the course, found by grade id, never from a hand-in. In scope: expect, draw,
budget (the formulas of judge/budget/) and math.
"""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import importlib
import json
import math
import traceback
from dataclasses import dataclass
from typing import Any, Protocol

from autograder.judge import draw
from autograder.judge.expect import Expect
from autograder.judge.part import PartKey

RULES = 1
"""Raised when the judge itself decides otherwise than before on equal keys."""


class KeyProblem(ValueError):
    """A key that cannot be used; the message names file, exercise, line, and what is wrong."""


class Bank(Protocol):
    """What of a course a key needs: items and misconceptions by id."""

    @property
    def items(self) -> dict[str, Any]: ...

    @property
    def misconceptions(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Key:
    """What decides on one exercise. The parts share `points` by weight; `digest` is sha256 of what decides."""

    exercise: str
    points: float
    parts: tuple[PartKey, ...]
    digest: str


def load_key(
    exercise: str, points: float, region_text: str, course: Bank, where: str = "", learner: str = ""
) -> Key:
    """The key in a region (with or without its marker lines). `where` names the file in messages, `learner` whose
    hand-in it is for: what is drawn differs by learner. Raises KeyProblem.
    """
    place = f"{where}: exercise {exercise}" if where else f"exercise {exercise}"
    if not (math.isfinite(points) and points > 0):
        raise KeyProblem(f"{place}: points: {points} is not above 0")
    name = f"<key of {exercise}>"
    try:
        tree = ast.parse(region_text, name)
    except SyntaxError as error:
        raise KeyProblem(f"{place}: line {error.lineno} of the hidden tests: {error.msg}") from error
    expect = Expect(exercise, course.items, course.misconceptions, learner)
    scope: dict[str, Any] = {"expect": expect, "draw": draw, "math": math, "__name__": name}
    if any(isinstance(node, ast.Name) and node.id == "budget" for node in ast.walk(tree)):
        scope["budget"] = importlib.import_module("autograder.judge.budget")
    try:
        exec(compile(tree, name, "exec"), scope)
    except Exception as error:  # whatever an author's region raises is the author's to read
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == name]
        what = str(error) if isinstance(error, ValueError) else repr(error)
        raise KeyProblem(f"{place}: line {lines[0] if lines else '?'} of the hidden tests: {what}") from error
    if not expect.parts:
        raise KeyProblem(f"{place}: the hidden tests expect nothing")
    parts = _share(expect.parts, points)
    return Key(exercise, points, parts, _digest(exercise, points, parts))


def _share(parts: list[PartKey], points: float) -> tuple[PartKey, ...]:
    weights = math.fsum(part.weight for part in parts)
    shares = [points * part.weight / weights for part in parts[:-1]]
    shares.append(points - math.fsum(shares))  # so that the shares sum to the points, to the last bit
    return tuple(
        dataclasses.replace(part, max_score=share) for part, share in zip(parts, shares, strict=True)
    )


def _digest(exercise: str, points: float, parts: tuple[PartKey, ...]) -> str:
    decided = [RULES, exercise, points, [[p.id, p.name, p.max_score, p.decides()] for p in parts]]
    return hashlib.sha256(json.dumps(decided, sort_keys=True).encode()).hexdigest()
