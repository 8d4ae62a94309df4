"""One self-contained HTML page to practise with: no server, no other file, maths as MathML, keys and screen readers.

Its texts are rendered here; `page.html` beside this file is the frame, `page.js` and `page.css` go into it. The keys of
practice items stand in the page, since they are public.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from autograder.content import Course
from autograder.item import SpotError
from autograder.learner import units
from autograder.quiz.pose import Choice, Posed, all_faces, shown
from autograder.quiz.text import to_html
from autograder.tomlfile import ContentError

HERE = Path(__file__).parent


def write(course: Course, path: Path, topics: Sequence[str] = ()) -> int:
    """Writes the page for the practice items of `topics` (empty: all), whole or not at all; the number of questions.
    Raises ContentError.
    """
    made, count = page(course, topics)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(made)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    return count


def page(course: Course, topics: Sequence[str] = ()) -> tuple[str, int]:
    """The page's text and the number of questions in it. Raises ContentError for an unknown topic."""
    known = sorted({item.topic for item in course.items.values()})
    if wrong := sorted(set(topics) - set(known)):
        raise ContentError(f"no topic {', '.join(wrong)}; there are {', '.join(known)}")
    items = {
        name: item
        for name, item in course.items.items()
        if item.use == "practice" and (not topics or item.topic in topics)
    }
    posed = all_faces(items)
    beliefs = {ident: belief.name for ident, belief in course.misconceptions.items()}
    data = {"title": course.title, "questions": [_question(one, beliefs) for one in posed]}
    # inside a script element nothing may look like its end, nor like the begin of a comment
    text = msgspec.json.encode(data).decode().replace("<", "\\u003c")
    frame = (HERE / "page.html").read_text(encoding="utf-8")
    for mark, content in {
        "/*CSS*/": (HERE / "page.css").read_text(encoding="utf-8"),
        "/*JS*/": (HERE / "page.js").read_text(encoding="utf-8"),
        "/*DATA*/": text,
        "<!--TITLE-->": to_html(course.title),
    }.items():
        frame = frame.replace(mark, content)
    return frame, len(items)


def _question(posed: Posed, beliefs: dict[str, str]) -> dict[str, Any]:
    item = posed.item
    made: dict[str, Any] = {
        "id": posed.id,
        "item": item.id,
        "version": item.version,
        "form": posed.form,
        "topic": item.topic,
        "level": item.level,
        "text": to_html(posed.statement.strip()),
        "regime": posed.regime,
        "why": to_html(posed.explanation),
        "first": [_choice(choice, beliefs) for choice in posed.first],
        "choices": [_choice(choice, beliefs) for choice in posed.choices],
    }
    if isinstance(item, SpotError):
        made["code"] = item.code
    if posed.form == "ordering":
        made["steps"] = [{"letter": letter, "text": to_html(text)} for letter, text in posed.listed]
        made["order"] = list(posed.order)
    if posed.value is not None:
        made["unit"] = posed.unit
        made["units"] = _units(posed.unit)
        made["value"] = float(posed.value.amount)
        made["rel"] = float(posed.rel)
        made["shown"] = f"{shown(posed.value.amount)} {posed.unit}".strip()
        made["wrong"] = [
            {
                "value": float(value.amount),
                "name": beliefs.get(value.misconception or "", ""),
                "said": to_html(value.feedback),
            }
            for value in posed.wrong
        ]
    if posed.rubric:
        made["rubric"] = [f"{mark.share:.0%}: {to_html(mark.text)}" for mark in posed.rubric]
    return made


def _choice(choice: Choice, beliefs: dict[str, str]) -> dict[str, Any]:
    return {
        "letter": choice.letter,
        "text": to_html(choice.text) if choice.letter not in ("T", "F") else choice.text,
        "plain": choice.text,
        "right": choice.right,
        "name": beliefs.get(choice.misconception or "", ""),
        "said": to_html(choice.feedback),
    }


_FAMILIES = (
    ("B", "KB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB"),
    ("s", "ms", "us"),
    ("GB/s", "MB/s", "Gbit/s"),
)


def _units(unit: str) -> dict[str, float]:
    """What one of each unit of the same kind is in `unit`; the page takes no others."""
    if not unit:
        return {}
    asked = units.ask(unit)
    family = next((names for names in _FAMILIES if unit in names), (unit,))
    return {name: float(units.ask(name).factor / asked.factor) for name in family}
