"""Graded items out of templates: what a private course begins its own bank with.

A numeric item of the practice bank is a template: a secret seed draws one set of its numbers, wider than what practice
shows where the template allows it, and fixes it in a new item of use "graded" with an id of its own. A claim about the
same number makes a two-tier item: the number is the right one, or that of a named mistake. Keys are computed, never
typed; practice items stay as they are.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import random
from collections.abc import Mapping, Sequence
from fractions import Fraction

import msgspec

from autograder.item import Item, Numeric, Reason, TwoTier, WrongValue
from autograder.judge import formula
from autograder.judge.item import item_parts
from autograder.quiz.pose import pose, shown

_TRIES = 200
"""How often in a row nothing new may come before the templates count as used up."""


class NothingToDraw(ValueError):
    """The templates there are cannot make what was asked for: says why."""


def graded(items: Mapping[str, Item], seed: bytes, count: int, topics: Sequence[str] = ()) -> list[Item]:
    """`count` graded items drawn from the templates among `items` (of `topics`, or of all), the same for the same seed
    and unforeseeable without it. Raises NothingToDraw.
    """
    templates = [
        item for item in items.values() if isinstance(item, Numeric) and (not topics or item.topic in topics)
    ]
    if not templates:
        raise NothingToDraw("no numeric item to draw from; name other topics")
    rng = _generator(seed, "graded")
    made: dict[str, Item] = {}
    texts: set[str] = set()
    turn = idle = 0
    while len(made) < count and idle < _TRIES:
        template = templates[turn % len(templates)]
        item = (_numeric if rng.random() < 0.5 else _claim)(template, seed, rng)
        turn, idle = turn + 1, idle + 1
        if item is not None and (text := pose(item).statement) not in texts and item.id not in made:
            made[item.id] = item
            texts.add(text)
            idle = 0
    if len(made) < count:
        raise NothingToDraw(
            f"{count} items are asked for, the templates make {len(made)}; add parameters to them"
        )
    return list(made.values())


def toml(items: Sequence[Item], topic: str) -> str:
    """Items as a file of a private bank."""
    lines = [f"topic = {_text(topic)}", "", "# Graded: keep this file out of anything learners can read."]
    for item in items:
        needed = {field.encode_name for field in msgspec.structs.fields(item) if field.required}
        table = {
            name: value
            for name, value in msgspec.to_builtins(item).items()
            if name != "topic" and (name in needed or value not in ([], {}, ""))
        }
        lines += ["", "[[item]]", *_pairs(table)]
        for name in ("reason", "wrong"):
            for row in table.get(name, []):
                kept = {key: value for key, value in row.items() if value not in (None, "", False)}
                lines += ["", f"[[item.{name}]]", *_pairs(kept)]
    return "\n".join(lines) + "\n"


def _generator(seed: bytes, what: str) -> random.Random:
    return random.Random(int.from_bytes(hmac.new(seed, what.encode(), hashlib.sha256).digest()))


def _ident(seed: bytes, template: Numeric, names: Mapping[str, int | str], form: str) -> str:
    """An id that tells nothing of the template without the seed, and never that of a practice item."""
    what = json.dumps([template.id, form, sorted(names.items())])
    return "g" + hmac.new(seed, what.encode(), hashlib.sha256).hexdigest()[:10]


def _drawn(template: Numeric, rng: random.Random) -> dict[str, int | str] | None:
    """One set of numbers for which the key is sound, whole numbers between the least and the largest of the
    template's own where it has several; None where none was found.
    """
    names: dict[str, int | str] = {}
    for name, values in template.parameters.items():
        numbers = [value for value in values if isinstance(value, int)]
        names[name] = rng.choice(values)
        step = _step(numbers)
        if len(numbers) == len(values) > 1 and step:
            names[name] = rng.randrange(min(numbers), max(numbers) + 1, step)
    try:
        item_parts("draw", _fixed(template, names, "draw"))
    except ValueError:
        return None
    return names


def _step(numbers: Sequence[int]) -> int:
    """The power of ten or of two that all numbers are multiples of, so that what is drawn looks like them; 0: none."""
    for step in (10**9, 10**8, 10**6, 50, 10, 5):
        if all(number % step == 0 for number in numbers):
            return step
    return 0


def _fixed(template: Numeric, names: Mapping[str, int | str], ident: str) -> Numeric:
    return msgspec.structs.replace(
        template,
        id=ident,
        version=1,
        use="graded",
        parameters={name: (value,) for name, value in names.items()},
        source="drawn from a template",
    )


def _numeric(template: Numeric, seed: bytes, rng: random.Random) -> Item | None:
    names = _drawn(template, rng)
    return None if names is None else _fixed(template, names, _ident(seed, template, names, "numeric"))


def _claim(template: Numeric, seed: bytes, rng: random.Random) -> Item | None:
    """The template's question with a number as its answer: true, or false in a way that has a name."""
    names = _drawn(template, rng)
    if names is None:
        return None
    kinds: dict[str, WrongValue] = {wrong.misconception: wrong for wrong in template.wrong}
    wrongs = list(kinds.values())[:3]
    if len(wrongs) < 2:
        return None
    truth = rng.random() < 0.5
    taken = rng.choice(wrongs)
    said = formula.value(template.answer if truth else taken.formula, names)

    def words(value: Fraction) -> str:
        return f"{shown(value)} {template.unit}".strip()

    right = formula.value(template.answer, names)
    reasons = [
        Reason(
            text=f"It is {words(formula.value(wrong.formula, names))}.",
            misconception=wrong.misconception,
            refutation=formula.fill(wrong.refutation, names),
        )
        for wrong in wrongs
    ]
    reasons.append(Reason(text=f"It is {words(right)}.", right=True))
    rng.shuffle(reasons)
    asked = formula.fill(template.statement, names)
    return TwoTier(
        id=_ident(seed, template, names, f"claim {truth} {taken.formula}"),
        version=1,
        level=template.level,
        regime=template.regime,
        statement=f"{asked}\n\nThe answer given is **{words(said)}**, and it is right.",
        explanation=formula.fill(template.explanation, names),
        topic=template.topic,
        use="graded",
        misconceptions=tuple(wrong.misconception for wrong in wrongs),
        source="drawn from a template",
        tags=template.tags,
        key=truth,
        reason=tuple(reasons),
    )


def _pairs(table: Mapping[str, object]) -> list[str]:
    return [f"{name} = {_value(value)}" for name, value in table.items() if not _is_table(value)]


def _is_table(value: object) -> bool:
    return isinstance(value, list | tuple) and bool(value) and isinstance(value[0], dict)


def _value(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_text(str(name))} = {_value(each)}" for name, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return _text(value) if isinstance(value, str) else repr(value)


def _text(text: str) -> str:
    """A TOML basic string: JSON's escapes are its own, but for the one character JSON leaves as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
