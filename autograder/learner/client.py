"""What a notebook calls: `answer` for an item of a quiz, `submit` at the end of a graded cell.

While a notebook is graded, `submit` hands the answers to the judge outside and says "recorded", nothing else. In a
learner's own notebook it answers at once, from `instant.json` beside the notebook, and notes the attempt.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.learner import attempts, check, units, values, wire
from autograder.learner.ask import asked
from autograder.learner.draw import LEARNER, face
from autograder.learner.show import Line, Report, show

INSTANT = "instant.json"
VALIDATING = "NBGRADER_VALIDATING"


class WrongAnswer(AssertionError):
    """Raised while nbgrader validates a notebook, for an answer that is wrong or missing: it asks for an error."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer to an item of a quiz: `given` holds what was filled in, by name. `...` is not answered yet."""

    given: Mapping[str, Any]

    def __repr__(self) -> str:
        return "answer(" + ", ".join(f"{name}={values.value_of(x)}" for name, x in self.given.items()) + ")"


class _Unset:
    """What was not mentioned at all."""


_UNSET: Any = _Unset()


def answer(
    *,
    claim: Any = _UNSET,
    step: Any = _UNSET,
    because: Any = _UNSET,
    value: Any = _UNSET,
    order: Any = _UNSET,
    sure: Any = _UNSET,
) -> Answer:
    """Your answer to a question of a quiz: fill in what its `answer(…)` names.

    `claim` True or False; `step` the number of the step that is wrong; `because` a letter (or the choice's own text);
    `value` a quantity such as "14 GB"; `order` letters as in "c a b"; `sure` how sure you are, in per cent.
    """
    filled = dict(claim=claim, step=step, because=because, value=value, order=order, sure=sure)
    return Answer(given={name: x for name, x in filled.items() if x is not _UNSET})


def submit(exercise: str, /, **answers: Any) -> None:
    """Hands in the answers of one exercise: numbers, texts such as "14 GB", choices, functions.

    Shows what is right and what is not, or "recorded" while a notebook is graded. `...` and functions that raise
    NotImplementedError count as not answered yet and are no error, so an untouched notebook runs to its end; only
    under nbgrader's Validate does a wrong or missing answer raise.
    """
    exercise = units.clip(str(exercise))
    flat = _flat(answers)
    try:
        line = wire.judge()
        if line is not None:
            show(Report(exercise, remark=wire.submit(line, exercise, flat)))
            return
    except (wire.NoJudge, OSError) as problem:
        show(Report(exercise, remark=f"not recorded: {problem}"))
        return
    validating = bool(os.environ.get(VALIDATING))
    report = instant(exercise, flat, Path.cwd())
    show(report)
    if not validating:
        attempts.log(Path.cwd(), report, flat)
    elif report.bad:
        raise WrongAnswer(repr(report))


def instant(exercise: str, answers: Mapping[str, Any], folder: Path) -> Report:
    """What can be said at once of `answers` (flat: "q017/claim" for the parts of an item), from the folder's file."""
    try:
        known = json.loads((folder / INSTANT).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return _unchecked(
            exercise, answers, f"no {INSTANT} beside this notebook, so nothing can be said at once"
        )
    except (OSError, ValueError):
        known = None
    if not isinstance(known, dict) or not isinstance(known.get("exercises"), dict):
        return _unchecked(exercise, answers, f"{INSTANT} is damaged: take a fresh copy from the course")
    if exercise not in known["exercises"]:
        return _unchecked(exercise, answers, f"{INSTANT} knows no exercise of this name")
    record = known["exercises"][exercise]
    if "drawn" in record:
        learner = answers.get(f"{record['drawn']['item']}/{LEARNER}")
        if not isinstance(learner, str):
            return _unchecked(exercise, answers, "run the cell that asks this question first")
        record = record["records"][face(learner, record["drawn"]["where"], record["drawn"]["faces"])]
    return Report(exercise, check.check(exercise, record, answers))


def _unchecked(exercise: str, answers: Mapping[str, Any], remark: str) -> Report:
    lines = [
        Line(name, "missing", check.NOT_YET)
        if values.value_of(given).kind == "missing"
        else Line(name, "unsure")
        for name, given in answers.items()
    ]
    return Report(exercise, tuple(lines), remark)


def _flat(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Items by their answers: {"q017": answer(…)} becomes "q017/claim" and "q017/because". A slot says for whom it was
    asked.
    """
    flat: dict[str, Any] = {}
    for name, given in answers.items():
        if isinstance(given, Answer):
            flat |= {f"{name}/{field}": x for field, x in given.given.items()}
        else:
            flat[name] = given
        if (learner := asked(name)) is not None:
            flat[f"{name}/{LEARNER}"] = learner
    return flat
