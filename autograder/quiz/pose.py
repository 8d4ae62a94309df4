"""An item as it is asked: its texts with numbers filled in, its choices lettered, its answer as plain data.

Everything that shows items (notebooks, practice, exports) starts from a `Posed`, so that all of them show the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from autograder.item import LETTERS, Essay, Item, Mark, Numeric, Ordering, Question, SpotError, TwoTier
from autograder.judge import formula
from autograder.judge.budget import number


@dataclass(frozen=True)
class Choice:
    """One choice: what it says, whether it is right, what is said to who takes it, and whom it shows."""

    letter: str
    text: str
    right: bool
    feedback: str
    misconception: str | None = None


@dataclass(frozen=True)
class Value:
    """A number in the item's unit."""

    amount: Fraction
    feedback: str
    misconception: str | None = None


@dataclass(frozen=True)
class Posed:
    """An item with its numbers filled in. `id` is the item's, with "#face" where it is asked with several sets.

    `first` are the choices of the first tier (True and False, or the steps), `choices` those of the reason; `steps` in
    the right order and `order`, the letters they are shown under, belong to an ordering; `value`, `unit`, `rel` and
    `wrong` to a numeric item.
    """

    item: Question
    id: str
    statement: str
    explanation: str
    first: tuple[Choice, ...] = ()
    choices: tuple[Choice, ...] = ()
    steps: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    value: Value | None = None
    unit: str = ""
    rel: Fraction = Fraction(0)
    wrong: tuple[Value, ...] = ()
    rubric: tuple[Mark, ...] = ()

    @property
    def form(self) -> str:
        return self.item.form

    @property
    def regime(self) -> str:
        """The precision regime, "" where any will do."""
        return "" if self.item.regime in ("", "any") else self.item.regime

    @property
    def listed(self) -> tuple[tuple[str, str], ...]:
        """The steps of an ordering as they are shown: (letter, text), lettered a, b, c …"""
        return tuple(sorted(zip(self.order, self.steps, strict=True)))


def faces(item: Item) -> int:
    """With how many sets of numbers an item can be asked."""
    return len(formula.faces(item)) if isinstance(item, Numeric) else 1


def pose(item: Item, face: int = 0) -> Posed:
    """`item` as it is asked with its `face`-th set of numbers. Raises FormulaProblem."""
    if isinstance(item, Numeric):
        return _numeric(item, face)
    first: tuple[Choice, ...] = ()
    if isinstance(item, TwoTier):
        first = tuple(
            Choice("T" if truth else "F", str(truth), truth is item.key, "") for truth in (True, False)
        )
    if isinstance(item, SpotError):
        first = tuple(
            Choice(str(n), step.text, step.wrong, step.refutation, step.misconception)
            for n, step in enumerate(item.step, 1)
        )
    if isinstance(item, Ordering):
        steps = tuple(step.text for step in item.step)
        return Posed(item, item.id, item.statement, item.explanation, steps=steps, order=item.right)
    rubric = item.rubric if isinstance(item, Essay) else ()
    return Posed(
        item, item.id, item.statement, item.explanation, first=first, choices=_choices(item), rubric=rubric
    )


def all_faces(items: Mapping[str, Item]) -> list[Posed]:
    """Every item of a bank with every set of its numbers, in the bank's order."""
    return [pose(item, face) for item in items.values() for face in range(faces(item))]


def markdown(posed: Posed) -> str:
    """What is asked, in Markdown: the question, and what there is to choose from."""
    regime = f"\n\n*Precision: {posed.regime}.*" if posed.regime else ""
    lettered = "\n".join(f"- **{choice.letter}**: {choice.text}" for choice in posed.choices)
    text = posed.statement.strip()
    match posed.form:
        case "two-tier":
            return f"> {text}{regime}\n\nBecause …\n\n{lettered}"
        case "spot-the-error":
            return f"{text}{regime}\n\n{_steps(posed)}\n\nWhat is right?\n\n{lettered}"
        case "why":
            return f"{text}{regime}\n\n{lettered}"
        case "numeric":
            return f"{text}{regime}\n\nGive {_asked(posed.unit)}."
        case "ordering":
            listed = "\n".join(f"- **{letter}**: {step}" for letter, step in posed.listed)
            return f"{text}{regime}\n\n{listed}"
    return f"{text}{regime}"


def shown(value: Fraction) -> str:
    """A number as it is shown: six digits at most, no exponent."""
    return number(value, 6)


def _asked(unit: str) -> str:
    return f"a quantity with its unit, for instance in {unit}" if unit else "a plain number"


def _steps(posed: Posed) -> str:
    if isinstance(posed.item, SpotError) and posed.item.code:
        width = max(len(step.text) for step in posed.first) + 2
        lines = (f"{step.text:<{width}}# {step.letter}" for step in posed.first)
        return "```python\n" + "\n".join(lines) + "\n```"
    return "\n".join(f"{step.letter}. {step.text}" for step in posed.first)


def _choices(item: Question) -> tuple[Choice, ...]:
    return tuple(
        Choice(letter, reason.text, reason.right, reason.refutation, reason.misconception)
        for letter, reason in zip(LETTERS, item.reasons, strict=False)
    )


def _numeric(item: Numeric, face: int) -> Posed:
    sets = formula.faces(item)
    names = sets[face]
    return Posed(
        item,
        item.id if len(sets) == 1 else f"{item.id}#{face}",
        formula.fill(item.statement, names),
        formula.fill(item.explanation, names),
        value=Value(formula.value(item.answer, names), ""),
        unit=item.unit,
        rel=Fraction(str(item.rel)),
        wrong=tuple(
            Value(
                formula.value(each.formula, names), formula.fill(each.refutation, names), each.misconception
            )
            for each in item.wrong
        ),
    )
