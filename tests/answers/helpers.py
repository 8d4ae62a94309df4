"""What the tests of answers share: a course of two misconceptions, keys from regions, a judged answer."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from autograder.item import Reason, TwoTier
from autograder.judge.exercise import judge_cell
from autograder.judge.function import FunctionPart
from autograder.judge.heard import Heard, Result
from autograder.judge.instant import instant_record
from autograder.judge.key import Key, load_key
from autograder.learner import calls
from autograder.learner.values import decode, value_of
from autograder.verdict import Part

SEED = b"a secret of the tests"
CHEAP = 1
"""log2 of scrypt's N where the cost does not matter."""


def belief(name: str) -> Any:
    return SimpleNamespace(name=f"Belief {name}", refutation=f"Refuted {name}.", see=f"step {name}")


def reason(text: str, *, right: bool = False, misconception: str | None = None) -> Reason:
    return Reason(
        text=text, right=right, misconception=misconception, refutation="" if right else f"Not so: {text}."
    )


@dataclass
class Bank:
    """Stands in for a course: what a key needs of one."""

    items: dict[str, Any] = field(default_factory=dict)
    misconceptions: dict[str, Any] = field(
        default_factory=lambda: {name: belief(name) for name in ("alpha", "beta", "gamma")}
    )


def two_tier(use: Literal["practice", "graded"] = "practice") -> Bank:
    item = TwoTier(
        id="q001",
        version=1,
        level=1,
        regime="any",
        statement="Activations shrink.",
        key=False,
        use=use,
        explanation="Activations stay whole.",
        misconceptions=("alpha",),
        reason=(
            reason("first", misconception="alpha"),
            reason("second", right=True),
            reason("third", misconception="beta"),
            reason("fourth"),
        ),
    )
    return Bank(items={"q001": item})


def key(region: str, exercise: str = "2.1", points: float = 4.0, bank: Bank | None = None) -> Key:
    return load_key(exercise, points, region, bank or Bank(), "level-2.py")


def heard(made: Key, seed: bytes = SEED, **answers: Any) -> Heard:
    """What a talk brings for these answers, functions called in this process."""
    results: dict[str, tuple[Result, ...]] = {}
    for part in made.parts:
        if isinstance(part, FunctionPart) and callable(answers.get(part.name)):
            said = [calls.call(answers[part.name], each, 5.0) for each in part.inputs(seed)]
            results[part.name] = tuple(
                Result(kind=x.kind, text=x.text) if isinstance(x, calls.Raised) else Result(decode(x))
                for x in said
            )
    values = {name.replace("__", "/"): value_of(answer) for name, answer in answers.items()}
    return Heard(submitted=True, answers=values, results=results, ended="done")


def judge(made: Key, **answers: Any) -> tuple[Part, ...]:
    known = Bank().misconceptions
    return judge_cell(made, heard(made, **answers), seed=SEED, misconceptions=known)


def judge_one(made: Key, **answers: Any) -> Part:
    (part,) = judge(made, **answers)
    return part


def write_instant(folder: Path, *keys: Key, cost: int = CHEAP) -> Path:
    known = Bank().misconceptions
    records = {made.exercise: instant_record(made, b"salt", known, cost) for made in keys}
    path = folder / "instant.json"
    path.write_text(json.dumps({"schema": 1, "assignment": "level-2", "exercises": records}))
    return path
