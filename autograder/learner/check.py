"""Checks answers against a record of instant.json, in the learner's own process.

A record: {"salt": hex, "cost": 15, "parts": {name: part}}; a part: {"kind": "quantity" | "function" | "choice" |
"choices" | "claim" | "because" | "order", …, "table": {tag: sealed}}, or {"kind": "recorded", "of": kind} where nothing
is said at once but whether the answer can be read.
What a kind holds besides is written in judge/instant.py, which makes it.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from autograder.learner import calls, choices, units
from autograder.learner.instant import Lock, bucket, unseal
from autograder.learner.show import Line
from autograder.learner.values import (
    NotReadable,
    Value,
    bare_function,
    decode,
    distance,
    encode,
    same,
    to_base,
    value_of,
)

FUNCTION_SECONDS = 5.0
NOT_YET = "not answered yet"


def check(exercise: str, record: Mapping[str, Any], answers: Mapping[str, Any]) -> tuple[Line, ...]:
    """One line for every part of the record, from the learner's own objects."""
    parts: Mapping[str, Any] = record["parts"]
    return tuple(_part(exercise, name, part, record, answers) for name, part in parts.items())


def _part(
    exercise: str, name: str, part: Mapping[str, Any], record: Mapping[str, Any], answers: Mapping[str, Any]
) -> Line:
    given = answers.get(name, ...)
    value = value_of(given)
    item = name.split("/")[0]
    if name not in answers and item in answers and answers[item] is not ...:
        return Line(name, "unreadable", no_item(item, part.get("asks", ("claim", "because"))))
    if value.kind == "missing":
        return Line(name, "missing", NOT_YET)
    if part["kind"] == "recorded":
        return _recorded(name, part, value)
    lock = Lock(bytes.fromhex(record["salt"]), int(record["cost"]), f"{exercise}/{name}")
    try:
        match part["kind"]:
            case "quantity":
                return _quantity(name, part, lock, value)
            case "function":
                return _function(name, part, lock, given)
            case "choices":
                return _choices(name, part, lock, value)
            case "because" if "claim" in part:
                claim = value_of(answers.get(part["claim"], ...))
                if claim.kind == "missing":
                    what = part["claim"].rpartition("/")[2]
                    return Line(name, "wrong", f"A reason counts only with a {what}: answer that too.")
                return _choice(name, part, lock, value, f"{choices.one(claim, part['claims'])} ")
            case "order":
                return _order(name, part, lock, value)
            case _:
                return _choice(name, part, lock, value, "")
    except NotReadable as problem:
        return Line(name, "unreadable", f"{problem}.")


def _quantity(name: str, part: Mapping[str, Any], lock: Lock, value: Value) -> Line:
    asked, rel = units.ask(part["unit"]), float(part["rel"])
    known = unseal(lock, part["table"], "", bucket(value, "number", asked, rel)) or {"cases": []}
    hits = [case for case in known["cases"] if same(decode(case["is"]), value, asked, rel)]
    for case in hits:
        if "right" in case:
            return Line(name, "right", case["right"])
    if hits:
        number = to_base(value, asked)
        nearest = min(hits, key=lambda case: distance(number, to_base(decode(case["is"]), asked)))
        return _misconception(name, nearest["wrong"])
    remark = (
        units.note(value.data, asked) if value.kind == "text" else units.bare_note(asked)
    )  # how it was read
    return Line(name, "wrong", remark)


def _choice(name: str, part: Mapping[str, Any], lock: Lock, value: Value, slot: str) -> Line:
    option = choices.one(value, part["among"], part.get("texts"))
    known = unseal(lock, part["table"], slot, option) or {}
    if "right" in known:
        return Line(name, "right", known["right"])
    return _misconception(name, known.get("wrong"))


def _choices(name: str, part: Mapping[str, Any], lock: Lock, value: Value) -> Line:
    chosen = choices.several(value, part["among"])
    options = [str(option) for option in part["among"]]
    known = [unseal(lock, part["table"], o, "in" if o in chosen else "out") or {} for o in options]
    held = sum("right" in entry for entry in known)
    if held == len(options):
        return Line(name, "right", known[0]["right"])
    named = next((entry["wrong"] for entry in known if entry.get("wrong")), None)
    count = f"{held} of {len(options)} options are sorted rightly."
    line = _misconception(name, named)
    return Line(name, "wrong", f"{count} {line.text}".strip(), line.title, line.see)


def _order(name: str, part: Mapping[str, Any], lock: Lock, value: Value) -> Line:
    order = choices.order(value, part["among"], part.get("texts"))
    pairs = [f"{first}<{second}" for first, second in itertools.combinations(order, 2)]
    known = [unseal(lock, part["table"], "order", pair) or {} for pair in pairs]
    held = sum("right" in entry for entry in known)
    if held == len(pairs):
        return Line(name, "right", known[0]["right"])
    named = next((entry["wrong"] for entry in known if entry.get("wrong")), None)
    line = _misconception(name, named)
    count = f"{held} of {len(pairs)} pairs of steps stand in the right order."
    return Line(name, "wrong", f"{count} {line.text}".strip(), line.title, line.see)


def _recorded(name: str, part: Mapping[str, Any], value: Value) -> Line:
    """Recorded, unless the answer is none: that is told at once, and tells nothing of the key."""
    try:
        match part.get("of"):
            case "quantity":
                to_base(value, units.ask(part["unit"]))
            case "choices":
                choices.several(value, part["among"])
            case "order":
                choices.order(value, part["among"], part.get("texts"))
            case "choice" | "claim" | "because":
                choices.one(value, part["among"], part.get("texts"))
    except NotReadable as problem:
        return Line(name, "unreadable", f"{problem}.")
    return Line(name, "recorded")


def _function(name: str, part: Mapping[str, Any], lock: Lock, given: Any) -> Line:
    value = value_of(given)
    if value.kind != "function":
        raise NotReadable(bare_function(value))
    asked, rel = units.ask(part["unit"]), float(part["rel"])
    if not part["examples"]:
        return Line(name, "unsure", "no examples to try here; the judge draws its own.")
    right: list[bool] = []
    matched: dict[str, set[int]] = {}
    wrongs: dict[str, dict[str, Any]] = {}
    first = ""
    for index, inputs in enumerate(part["examples"]):
        result = calls.call(given, inputs, FUNCTION_SECONDS)
        if isinstance(result, calls.Raised):
            if result.kind == "NotImplementedError":
                return Line(name, "missing", NOT_YET)
            right.append(False)
            first = first or f"For {shown(inputs)} it raised {result.kind}: {result.text}"
            if result.kind == "TimeoutError":
                break
            continue
        output = decode(result)
        try:
            known = unseal(lock, part["table"], str(index), bucket(output, part["leaf"], asked, rel)) or {
                "cases": []
            }
            hits = [case for case in known["cases"] if same(decode(case["is"]), output, asked, rel)]
            problem = f"For {shown(inputs)} it gives {units.clip(str(output), 80)}, which is not right."
        except NotReadable as error:
            hits, problem = [], f"For {shown(inputs)}: {error}."
        right.append(any("right" in case for case in hits))
        if not right[-1]:
            first = first or problem
        for case in hits:
            if "wrong" in case:
                wrongs[case["wrong"]["id"]] = case
                matched.setdefault(case["wrong"]["id"], set()).add(index)
    if all(right):
        return Line(name, "holds", "the judge tries it on other inputs.")
    held = [ident for ident, seen in matched.items() if set(wrongs[ident]["differs"]) <= seen]
    if held:
        most = max(held, key=lambda ident: len(wrongs[ident]["differs"]))
        line = _misconception(name, wrongs[most]["wrong"])
        return Line(name, "wrong", f"{line.text} {first}".strip(), line.title, line.see)
    return Line(name, "wrong", first)


_HOW = {
    "claim": "True or False",
    "step": "the number of a step",
    "because": "a letter",
    "value": "a number with its unit",
    "order": "the letters in order",
    "sure": "a percentage",
}


def no_item(item: str, asks: Sequence[str]) -> str:
    """What is wrong with an item's answer that is no `answer(…)` of the fields in `asks`."""
    fields = ", ".join(f"{name}=..." for name in asks)
    how = " and ".join(_HOW[name] for name in asks)
    return f"write {item} = answer({fields}), with {how}."


def _misconception(name: str, known: Mapping[str, Any] | None) -> Line:
    if not known:
        return Line(name, "wrong")
    return Line(name, "wrong", known["text"], known["name"], known["see"])


def shown(inputs: Mapping[str, Any]) -> str:
    """Inputs of a function for a message: "P = 7000000000, N = 8"."""
    return (
        ", ".join(f"{name} = {units.clip(str(decode(encode(x))), 60)}" for name, x in inputs.items())
        or "no inputs"
    )
