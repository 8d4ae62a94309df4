"""Makes the record a learner's notebook answers from: sealed, so that no answer can be read in it.

What a part's record holds besides `kind` and `table` (learner/check.py reads it):
    quantity   unit, rel                     slot "": {"cases": [{"is": value, "right": text} | {"is", "wrong": texts}]}
    function   unit, rel, leaf, examples     slot = number of the example: the same cases, wrong ones with `differs`
    choice, claim   among                    slot "": {"right": text} | {"wrong": texts or null}
    because    among, texts, claim, claims   slot = the claim or step chosen, "" where none is asked: the same
    choices    among                         slot = option, rounded = in or out: the same
    order      among, texts                  slot = "order", rounded = "a<b": a before b: the same
    recorded   of, and what shows whether an answer can be read (items of use "graded", confidence): nothing
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from autograder.judge.choice import ChoicePart, ChoicesPart
from autograder.judge.function import FunctionPart, differ, leaf
from autograder.judge.item import BecausePart, ClaimPart, DrawnPart, OrderPart, SurePart
from autograder.judge.key import Key
from autograder.judge.part import PartKey, Tell
from autograder.judge.quantity import QuantityPart
from autograder.learner.instant import COST, Lock, buckets, seal_all
from autograder.learner.values import NotReadable, Value, encode, to_wire

SCHEMA = 1
Entries = dict[tuple[str, str], Any]


def instant_record(
    key: Key, salt: bytes, misconceptions: Mapping[str, Any], cost: int = COST
) -> dict[str, Any]:
    """The record of one exercise, JSON. The same for the same key, salt and cost; `cost` is log2 of scrypt's N."""
    tell = Tell(misconceptions, key.exercise)
    own = hashlib.sha256(salt + key.exercise.encode()).digest()[:16]
    parts = {
        part.name: _part(part, Lock(own, cost, f"{key.exercise}/{part.name}"), tell) for part in key.parts
    }
    return {"salt": own.hex(), "cost": cost, "parts": parts}


def _part(part: PartKey, lock: Lock, tell: Tell) -> dict[str, Any]:
    part = part.inner if isinstance(part, DrawnPart) else part
    kind = _kind(part)
    if part.item:
        kind = {**kind, "asks": list(part.asks)}
    if part.use == "graded" or isinstance(part, SurePart):
        return {**kind, "kind": "recorded", "of": kind["kind"]}
    return {**kind, "table": seal_all(lock, _entries(part, tell))}


def _kind(part: PartKey) -> dict[str, Any]:
    match part:
        case QuantityPart():
            return {"kind": "quantity", "unit": part.asked.unit, "rel": part.rel}
        case FunctionPart():
            kind = leaf(part.expected(part.like, part.examples[0])) if part.examples else "number"
            examples = list(part.examples)
            return {
                "kind": "function",
                "unit": part.asked.unit,
                "rel": part.rel,
                "leaf": kind,
                "examples": examples,
            }
        case ChoicesPart():
            return {"kind": "choices", "among": list(part.among)}
        case BecausePart():
            first = {"claim": part.claim, "claims": list(part.claims)} if part.claim else {}
            return {"kind": "because", "among": list(part.among), "texts": dict(part.texts), **first}
        case ClaimPart():
            return {"kind": "claim", "among": list(part.among)}
        case ChoicePart():
            return {"kind": "choice", "among": list(part.among)}
        case OrderPart():
            return {"kind": "order", "among": list(part.among), "texts": dict(part.texts)}
        case SurePart():
            return {"kind": "sure"}
    raise TypeError(f"no instant answers for {type(part).__name__}")


def _entries(part: PartKey, tell: Tell) -> Entries:
    match part:
        case QuantityPart():
            return _quantity(part, tell)
        case FunctionPart():
            return _function(part, tell)
        case ChoicesPart():
            return _choices(part, tell)
        case BecausePart():
            return _because(part, tell)
        case ChoicePart():
            return {("", str(o)): _option(part, str(o), tell) for o in part.among}
        case OrderPart():
            return _order(part, tell)
    raise TypeError(f"no instant answers for {type(part).__name__}")


def _quantity(part: QuantityPart, tell: Tell) -> Entries:
    entries: Entries = {}
    known: list[tuple[Fraction, dict[str, Any]]] = [(part.right, {"right": part.because})]
    known += [(value, {"wrong": part.says(value, ident, tell)}) for value, ident in part.wrong]
    for value, says in known:
        given = Value("number", value / part.asked.factor)
        for rounded in buckets(given, "number", part.asked, part.rel):
            case = {"is": encode(given.data), **says}
            entries.setdefault(("", rounded), {"cases": []})["cases"].append(case)
    return entries


def _function(part: FunctionPart, tell: Tell) -> Entries:
    entries: Entries = {}

    def add(index: int, value: Value, says: dict[str, Any]) -> None:
        try:
            rounded_forms = buckets(
                value, leaf(part.expected(part.like, part.examples[index])), part.asked, part.rel
            )
        except NotReadable:
            return  # a wrong function that returns another kind of thing
        for rounded in rounded_forms:
            entries.setdefault((str(index), rounded), {"cases": []})["cases"].append(
                {"is": to_wire(value), **says}
            )

    right = [part.expected(part.like, each) for each in part.examples]
    for index, value in enumerate(right):
        add(index, value, {"right": True})
    for ident, function in part.wrong:
        wrong = [part.expected(function, each) for each in part.examples]
        differs = [
            i for i, (r, w) in enumerate(zip(right, wrong, strict=True)) if differ(r, w, part.asked, part.rel)
        ]
        for index in differs:
            add(index, wrong[index], {"wrong": tell.texts(ident), "differs": differs})
    return entries


def _option(part: ChoicePart, option: str, tell: Tell) -> dict[str, Any]:
    if option == part.right:
        return {"right": part.because}
    said = part.says(option, tell)
    return {"wrong": said if said["text"] else None}


def _because(part: BecausePart, tell: Tell) -> Entries:
    if not part.claim:
        return {("", str(option)): _option(part, str(option), tell) for option in part.among}
    entries: Entries = {}
    for claim in map(str, part.claims):
        for option in map(str, part.among):
            says = _option(part, option, tell)
            if option == part.right and claim != part.claim_right:
                says = {"wrong": {"name": "", "text": part.needs, "see": ""}}
            entries[f"{claim} ", option] = says
    return entries


def _order(part: OrderPart, tell: Tell) -> Entries:
    place = {letter: number for number, letter in enumerate(part.right)}
    entries: Entries = {}
    for first, second in itertools.permutations(part.among, 2):
        if place[first] < place[second]:
            says: dict[str, Any] = {"right": part.because}
        else:
            # what a pair that lies apart gets wrong is told by the neighbours between, one of which is wrong as well
            next_to = place[first] == place[second] + 1
            says = {"wrong": part.says(first, tell) if next_to else None}
        entries["order", f"{first}<{second}"] = says
    return entries


def _choices(part: ChoicesPart, tell: Tell) -> Entries:
    entries: Entries = {}
    for option in map(str, part.among):
        for state in ("in", "out"):
            ident = part.wrong.get(option) if state == "in" else None
            held = (option in part.right) == (state == "in")
            says = {"right": part.because} if held else {"wrong": tell.texts(ident) if ident else None}
            entries[option, state] = says
    return entries
