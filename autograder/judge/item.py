"""The parts that an item of the bank is judged by, one form after another.

two-tier, spot-the-error   a first tier (claim, step), then the reason, half each; the reason counts only with it
why                        the reason alone
numeric                    value
ordering                   order; pairs of steps in the right order, less those in the wrong one
any of them                sure: how sure one is that the rest is right, a tenth of the points where a quiz asks
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from autograder.item import LETTERS, Numeric, Ordering, Question, Reason, SpotError, TwoTier, Why
from autograder.judge import formula
from autograder.judge.choice import ChoicePart, own_words
from autograder.judge.heard import Heard
from autograder.judge.part import Judged, PartKey, Tell
from autograder.judge.quantity import QuantityPart, check_known, known_value
from autograder.learner import choices
from autograder.learner.choices import Option
from autograder.learner.draw import LEARNER, name_of
from autograder.learner.units import UnitProblem, read
from autograder.learner.units import ask as ask_unit
from autograder.learner.values import MISSING, NotReadable, Value
from autograder.verdict import PartStatus

NEEDS_CLAIM = "A reason counts only with the right claim."
NEEDS_STEP = "A correction counts only with the right step."
SURE_SHARE = 0.1
"""What confidence is worth of an item's points, where a quiz asks for it."""


@dataclass(frozen=True, kw_only=True)
class ClaimPart(ChoicePart):
    """The first tier of an item: is the claim true, or which step is wrong."""


@dataclass(frozen=True, kw_only=True)
class BecausePart(ChoicePart):
    """The reason of an item, by letter or by its text. After a first tier (`claim`, the name of that part) it counts
    only with the right one, `claim_right` of `claims`.
    """

    claim: str = ""
    claims: tuple[Option, ...] = ()
    claim_right: str = ""

    def when_right(self, heard: Heard, evidence: dict[str, Any]) -> Judged:
        if self.claim and not self._claim_holds(heard):
            return Judged(0, self.needs, evidence=evidence)
        return Judged(1, self.right_words, evidence=evidence)

    @property
    def needs(self) -> str:
        """What is said of a right reason after a wrong first tier."""
        return NEEDS_CLAIM if self.claim.endswith("/claim") else NEEDS_STEP

    def _claim_holds(self, heard: Heard) -> bool:
        try:
            return choices.one(heard.answers.get(self.claim, MISSING), self.claims) == self.claim_right
        except NotReadable:
            return False

    def decides(self) -> Any:
        return [*super().decides(), "because", self.claim, self.claim_right]


@dataclass(frozen=True, kw_only=True)
class ValuePart(QuantityPart):
    """The number of an item; `words` are the refutations of its known wrong values."""

    words: Mapping[Fraction, str] = field(default_factory=dict)

    def says(self, value: Fraction, ident: str, tell: Tell) -> dict[str, str]:
        return {**tell.texts(ident), "text": self.words[value]}

    def told(self, value: Fraction, ident: str, tell: Tell) -> str:
        return own_words(self.says(value, ident, tell))


@dataclass(frozen=True, kw_only=True)
class OrderPart(PartKey):
    """Steps by letter, in the order they happen. `words` and `wrong`: the refutation and the misconception of who puts
    the step of this letter before the one it follows.

    Of n steps, n(n-1)/2 pairs stand in an order; the pairs in the right one, less those in the wrong one, as a share of
    all pairs, is the share of the points, never below none. So shuffling at random earns nothing on average.
    """

    among: tuple[str, ...]
    right: tuple[str, ...]
    texts: Mapping[str, str]
    words: Mapping[str, str]
    wrong: Mapping[str, str] = field(default_factory=dict)

    def judge(self, heard: Heard, seed: bytes, tell: Tell) -> Judged:
        given = heard.answers[self.name]
        evidence = {"expected": " ".join(self.right), "given": str(given)}
        try:
            order = choices.order(given, self.among, self.texts)
        except NotReadable as problem:
            return Judged(0, f"{problem}.", evidence=evidence)
        if order == self.right:
            return Judged(1, self.right_words, evidence=evidence)
        place = {letter: self.right.index(letter) for letter in order}
        pairs = list(itertools.combinations(order, 2))
        held = sum(place[x] < place[y] for x, y in pairs)
        letter = next(x for x, y in pairs if place[x] == place[y] + 1)  # a learner's notebook names the same
        words = f"{held} of {len(pairs)} pairs of steps stand in the right order."
        said = f"{words} {own_words(self.says(letter, tell))}"
        return Judged(max(0.0, (2 * held - len(pairs)) / len(pairs)), said, self.wrong.get(letter), evidence)

    def says(self, letter: str, tell: Tell) -> dict[str, str]:
        """What is said of a step that stands too early."""
        ident = self.wrong.get(letter)
        known = tell.texts(ident) if ident else {"name": "", "text": "", "see": ""}
        return {**known, "text": f"Step {letter} comes too early: {self.words[letter]}"}

    def decides(self) -> Any:
        return ["order", list(self.among), list(self.right), sorted(self.wrong.items())]


@dataclass(frozen=True, kw_only=True)
class SurePart(PartKey):
    """How sure the learner is that the other parts (`of`) are right, in per cent.

    Worth 1 - (p - r)^2 of its points, with p the confidence and r whether they are right (Brier's rule): whatever one
    believes, saying just that earns most.
    """

    of: tuple[PartKey, ...]

    def judge(self, heard: Heard, seed: bytes, tell: Tell) -> Judged:
        given = heard.answers[self.name]
        evidence: dict[str, Any] = {"given": str(given)}
        try:
            sure = percent(given)
        except NotReadable as problem:
            return Judged(0, f"{problem}.", evidence=evidence)
        if any(heard.answers.get(part.name, MISSING).kind == "missing" for part in self.of):
            words = "How sure you are counts once the question is answered."
            return Judged(0, words, evidence=evidence, status=PartStatus.MISSING)
        right = all(part.judge(heard, seed, tell).fraction == 1 for part in self.of)
        earned = float(1 - (sure - right) ** 2)
        words = f"{float(100 * sure):g}% sure, and {'right' if right else 'not right'}: {earned:.0%} of this part."
        return Judged(earned, words, evidence=evidence)

    def decides(self) -> Any:
        return ["sure", [part.id for part in self.of]]


@dataclass(frozen=True, kw_only=True)
class DrawnPart(PartKey):
    """A part of the item drawn for `learner`. Answered as somebody else's, it waits for a person."""

    inner: PartKey
    learner: str

    def judge(self, heard: Heard, seed: bytes, tell: Tell) -> Judged:
        asked = heard.answers.get(f"{self.name.split('/')[0]}/{LEARNER}", MISSING)
        if asked.kind != "text" or name_of(asked.data) != name_of(self.learner):
            words = (
                f"Answered for {asked}, handed in by {self.learner!r}: another learner's question. A person"
            )
            words += " decides."
            return Judged(0, words, evidence={"given": str(asked)}, status=PartStatus.PENDING)
        return self.inner.judge(heard, seed, tell)

    def decides(self) -> Any:
        return ["drawn", name_of(self.learner), self.inner.decides()]


def percent(value: Value) -> Fraction:
    """A confidence: 80, "80%" or "80". Raises NotReadable outside 0 to 100."""
    number: Any = None
    if value.kind == "number" and isinstance(value.data, Fraction):
        number = value.data
    elif value.kind == "text":
        try:
            number = read(value.data.strip().removesuffix("%"), ask_unit(None))
        except UnitProblem:
            number = None
    if number is None or not 0 <= number <= 100:
        raise NotReadable(f"sure={value}: say how sure you are in per cent, from 0 to 100")
    return Fraction(number) / 100


def item_parts(
    exercise: str,
    item: Question,
    weight: float = 1.0,
    *,
    name: str = "",
    face: int = 0,
    confidence: bool = False,
) -> tuple[PartKey, ...]:
    """The parts of an item of the bank, with what they weigh together. `name` is the learner's variable (default: the
    item's id), `face` which set of numbers a numeric item is asked with. Raises ValueError.
    """
    name = name or item.id
    prefix = "" if name == exercise else f"{name}/"
    share = weight * (1 - SURE_SHARE) if confidence else weight
    common: dict[str, Any] = {"exercise": exercise, "item": name, "use": item.use}

    def part(what: str, portion: float = 1.0) -> dict[str, Any]:
        ids = {"name": f"{name}/{what}", "id": f"{exercise}/{prefix}{what}"}
        return {**common, **ids, "weight": share * portion, "because": item.explanation}

    parts: list[PartKey]
    match item:
        case TwoTier():
            claim = ClaimPart(**part("claim", 0.5), among=(True, False), right=str(item.key))
            parts = [claim, _because(part("because", 0.5), item.reasons, claim)]
        case SpotError():
            numbers = range(1, len(item.step) + 1)
            words = {str(n): s.refutation for n, s in zip(numbers, item.step, strict=True) if not s.wrong}
            wrong = {
                str(n): s.misconception for n, s in zip(numbers, item.step, strict=True) if s.misconception
            }
            step = ClaimPart(
                **part("step", 0.5),
                among=tuple(numbers),
                right=str(item.error),
                refutations=words,
                wrong={number: ident for number, ident in wrong.items() if number != str(item.error)},
            )
            parts = [step, _because(part("because", 0.5), item.reasons, step)]
        case Why():
            parts = [_because(part("because"), item.reasons, None)]
        case Numeric():
            parts = [_value(part("value"), item, face)]
        case Ordering():
            letters = LETTERS[: len(item.step)]
            listed = dict(zip(letters, item.listed, strict=True))
            parts = [
                OrderPart(
                    **part("order"),
                    among=tuple(letters),
                    right=item.right,
                    texts={letter: s.text for letter, s in listed.items()},
                    words={letter: s.refutation for letter, s in listed.items()},
                    wrong={letter: s.misconception for letter, s in listed.items() if s.misconception},
                )
            ]
        case _:
            raise ValueError(f"item {item.id}: {item.form} is graded by hand, no key can judge it")
    asks = tuple(p.name.removeprefix(f"{name}/") for p in parts)
    if confidence:
        asks = (*asks, "sure")
        sure = {**part("sure"), "weight": weight * SURE_SHARE, "because": ""}
        parts.append(SurePart(**sure, of=tuple(parts)))
    return tuple(replace(p, asks=asks) for p in parts)


def drawn(part: PartKey, learner: str) -> DrawnPart:
    """`part` as one that counts for `learner` alone."""
    kept = {
        n: getattr(part, n) for n in ("exercise", "name", "id", "weight", "because", "item", "use", "asks")
    }
    return DrawnPart(**kept, inner=part, learner=learner)


def _because(common: dict[str, Any], reasons: tuple[Reason, ...], claim: ClaimPart | None) -> BecausePart:
    if not 2 <= len(reasons) <= len(LETTERS) or sum(reason.right for reason in reasons) != 1:
        raise ValueError(
            f"item {common['item']}: wants 2 to {len(LETTERS)} reasons, exactly one of them right"
        )
    letters = dict(zip(LETTERS, reasons, strict=False))
    first: dict[str, Any] = {}
    if claim:
        first = {"claim": claim.name, "claims": claim.among, "claim_right": claim.right}
    return BecausePart(
        **common,
        **first,
        among=tuple(letters),
        right=next(letter for letter, r in letters.items() if r.right),
        texts={letter: r.text for letter, r in letters.items()},
        wrong={letter: r.misconception for letter, r in letters.items() if not r.right and r.misconception},
        refutations={letter: r.refutation for letter, r in letters.items() if not r.right},
    )


def _value(common: dict[str, Any], item: Numeric, face: int) -> ValuePart:
    names = formula.faces(item)[face]
    asked, right = known_value(formula.value(item.answer, names), item.unit, f"{item.id}: answer")
    wrong = tuple(
        (formula.value(each.formula, names) * asked.factor, each.misconception) for each in item.wrong
    )
    made = ValuePart(
        **{**common, "because": formula.fill(item.explanation, names)},
        asked=asked,
        right=right,
        rel=item.rel,
        wrong=wrong,
        words={
            value: formula.fill(each.refutation, names)
            for (value, _), each in zip(wrong, item.wrong, strict=True)
        },
    )
    check_known(made)
    return made
