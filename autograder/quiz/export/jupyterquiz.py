"""jupyterquiz: a list of JSON questions that a notebook shows.

Its ranges are half-open, and one without feedback breaks its script; a dollar of money breaks its maths, so none is
left bare. It knows choices and numbers; what it does not know is listed by `cannot`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import msgspec

from autograder.quiz.export.flat import Answer, Flat, body, plain_html
from autograder.quiz.export.xml import clean
from autograder.quiz.text import spans

SUFFIX = "json"
_DOLLAR = "<span>&#36;</span>"


def export(questions: Sequence[Flat], title: str) -> bytes:
    """All questions that can be held, as one JSON list."""
    made = [_question(flat) for flat in questions if not cannot(flat)]
    return msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n"


def cannot(flat: Flat) -> str:
    """Why jupyterquiz cannot hold a question, "" where it can."""
    return {"matching": "it puts nothing in order", "essay": "it takes no free text"}.get(flat.kind, "")


def _question(flat: Flat) -> dict[str, Any]:
    text = body(flat, _text, lambda line: plain_html(line).replace("$", _DOLLAR))
    if flat.kind == "number":
        return {"id": flat.id, "question": text, "type": "numeric", "answers": _numbers(flat)}
    answers = [_answer(answer, flat.feedback) for answer in flat.answers]
    return {"id": flat.id, "question": text, "type": "multiple_choice", "answers": answers}


def _answer(answer: Answer, general: str) -> dict[str, Any]:
    # an answer without anything to say breaks the script
    said = _text(answer.feedback) or (_text(general) or "Right." if answer.right else "Not so.")
    shown = {"code": clean(answer.text)} if answer.code else {"answer": _text(answer.text)}
    return {**shown, "correct": answer.right, "feedback": said}


def _numbers(flat: Flat) -> list[dict[str, Any]]:
    """The right value with its range, known wrong values with theirs, and something to say to the rest."""
    made = [_range(flat.value, flat.tolerance, True, _text(flat.feedback))]
    made += [
        _range(value.amount, abs(value.amount) * flat.relative, False, _text(value.feedback))
        for value in flat.wrong
    ]
    return [entry for pair in made for entry in pair] + [{"type": "default", "feedback": "Not right."}]


def _range(value: Fraction, tolerance: Fraction, right: bool, feedback: str) -> list[dict[str, Any]]:
    exact = {"type": "value", "value": _float(value), "correct": right, "feedback": feedback}
    if not tolerance:
        return [exact]
    low, high = _float(value - tolerance), math.nextafter(_float(value + tolerance), math.inf)
    return [exact, {"type": "range", "range": [low, high], "correct": right, "feedback": feedback}]


def _float(value: Fraction) -> float | int:
    return int(value) if value.denominator == 1 else float(value)


def _text(text: str) -> str:
    """HTML with maths in dollars; a dollar that is money is written as a character reference in an element of its own,
    where the page's maths does not look for a partner.
    """
    safe = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
    marks = {"code": "code", "strong": "strong", "emphasis": "em"}
    made = []
    for span in spans(clean(text)):
        plain = "".join(safe.get(letter, letter) for letter in span.text)
        if span.kind == "math":
            made.append(f"${plain}$")
        elif span.kind == "break":
            made.append("<br><br>")
        else:
            plain = plain.replace("$", _DOLLAR)
            tag = marks.get(span.kind)
            made.append(f"<{tag}>{plain}</{tag}>" if tag else plain)
    return "".join(made).replace("\n", " ").strip()
