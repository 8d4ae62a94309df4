"""Judges a quantity: a number with a unit, right within a relative tolerance, wrong in ways that have a name."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from autograder.judge.heard import Heard
from autograder.judge.part import Judged, PartKey, Tell
from autograder.learner import units
from autograder.learner.values import NotReadable, Value, allowed, distance, to_base


@dataclass(frozen=True, kw_only=True)
class QuantityPart(PartKey):
    """`right` and the keys of `wrong` (value, misconception) are in base units of `asked`; `rel` is the relative
    tolerance of both, 0 for exact.
    """

    asked: units.Asked
    right: Fraction
    rel: float
    wrong: tuple[tuple[Fraction, str], ...] = ()

    def judge(self, heard: Heard, seed: bytes, tell: Tell) -> Judged:
        given = heard.answers[self.name]
        evidence: dict[str, Any] = {"expected": units.show(self.right, self.asked), "given": str(given)}
        try:
            number = to_base(given, self.asked)
        except NotReadable as problem:
            return Judged(0, f"{problem}.", evidence=evidence)
        if self.accepts(number, self.right):
            return Judged(1, self.right_words, evidence=evidence)
        known = self.named(number)
        if known:
            return Judged(0, self.told(*known, tell), known[1], evidence)
        return Judged(0, f"Not right. {self._note(given)}".strip(), evidence=evidence)

    def says(self, value: Fraction, ident: str, tell: Tell) -> dict[str, str]:
        """What is said of a known wrong value, as fields."""
        return tell.texts(ident)

    def told(self, value: Fraction, ident: str, tell: Tell) -> str:
        """The same in a sentence."""
        return tell.reason(ident)

    def accepts(self, number: Fraction, known: Fraction) -> bool:
        """Whether `number` is the known value, within the tolerance."""
        low, high = allowed(known, self.rel, self.asked)
        return low <= number <= high

    def named(self, number: Fraction) -> tuple[Fraction, str] | None:
        """The known wrong value this is, and its misconception; the nearest of two."""
        hits = [
            (distance(number, value), value, ident)
            for value, ident in self.wrong
            if self.accepts(number, value)
        ]
        return min(hits)[1:] if hits else None

    def _note(self, given: Value) -> str:
        return units.note(given.data, self.asked) if given.kind == "text" else units.bare_note(self.asked)

    def decides(self) -> Any:
        return [
            "quantity",
            self.asked.unit,
            str(self.right),
            repr(self.rel),
            [[str(v), i] for v, i in self.wrong],
        ]


def known_value(given: Any, unit: str | None, what: str) -> tuple[units.Asked, Fraction]:
    """An author's value, a text or a number in `unit` (default: its own unit), in base units. Raises ValueError."""
    if isinstance(given, bool) or not isinstance(given, str | int | float | Fraction):
        raise ValueError(f"{what} {given!r} is no number and no text such as '112 GB'")
    if isinstance(given, str):
        try:
            asked = units.ask(units.split(given)[1] if unit is None else unit)
            return asked, units.read(given, asked)
        except units.UnitProblem as problem:
            raise ValueError(f"{what} {given!r}: {problem}") from None
    asked = units.ask(unit)
    try:
        return asked, Fraction(repr(given) if isinstance(given, float) else given) * asked.factor
    except (ValueError, OverflowError):
        raise ValueError(f"{what} {given!r} is not finite") from None


def check_known(part: QuantityPart) -> None:
    """Refuses keys that contradict themselves. Raises ValueError."""
    for value, ident in part.wrong:
        shown = units.show(value, part.asked)
        if part.accepts(value, part.right):
            raise ValueError(f"the wrong value {shown} ({ident}) is within {part.rel:g} of the right one")
        for other, name in part.wrong:
            if name != ident and part.accepts(value, other):
                raise ValueError(
                    f"the wrong value {shown} would name two misconceptions, {ident} and {name}: it names none"
                )
