"""The frozen types of the question bank, one a form of item. `course.py` reads them, `quiz/lint.py` judges them."""

from __future__ import annotations

from typing import Literal

import msgspec

LETTERS = "abcdefgh"
"""Choices are lettered in the order they stand in the bank."""


class Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a content file: unknown fields are errors."""


class Reason(Strict, frozen=True, kw_only=True):
    """One choice: a *because*, or the correction of an error. A wrong one has its refutation and the misconception it
    shows.
    """

    text: str
    right: bool = False
    misconception: str | None = None
    refutation: str = ""


class Step(Strict, frozen=True, kw_only=True):
    """A step of an argument or a line of code (one of them is `wrong`), or a step of what happens in order.

    `refutation` says why a step that was taken for the error is none; in an ordering, why it does not come before the
    step above it, and `misconception` who puts it there.
    """

    text: str
    wrong: bool = False
    misconception: str | None = None
    refutation: str = ""


class WrongValue(Strict, frozen=True, kw_only=True):
    """A number that a known mistake leads to: the formula of the mistake, in the item's unit."""

    formula: str
    misconception: str
    refutation: str


class Mark(Strict, frozen=True, kw_only=True):
    """One line of a rubric: what earns `share` of an essay's points."""

    text: str
    share: float


class Question(Strict, frozen=True, kw_only=True):
    """What every item has. Ids are stable and never reused; `version` grows with every change that learners see.

    `numbers` maps figures in the item's texts to the formula each comes from ("31.4 GB" → "state(…).total / GB");
    `given` lists the figures that the item itself states. `use` graded: the key is held back by a private course.
    """

    id: str
    version: int
    level: int
    regime: str
    statement: str
    explanation: str
    topic: str = ""
    use: Literal["practice", "graded"] = "practice"
    misconceptions: tuple[str, ...] = ()
    source: str = ""
    tags: tuple[str, ...] = ()
    numbers: dict[str, str] = msgspec.field(default_factory=dict)
    given: tuple[str, ...] = ()

    @property
    def form(self) -> str:
        """The form's name, as the bank writes it."""
        return str(self.__struct_config__.tag)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The lettered choices, in the order learners see them; none in forms that have no choices."""
        return ()

    @property
    def named_by_answers(self) -> frozenset[str]:
        """All misconceptions that an answer to this item can show."""
        return frozenset(reason.misconception for reason in self.reasons if reason.misconception)

    @property
    def named(self) -> frozenset[str]:
        """All misconceptions an answer can show, and those the item is written for."""
        return self.named_by_answers | frozenset(self.misconceptions)


class TwoTier(Question, frozen=True, kw_only=True, tag_field="form", tag="two-tier"):
    """A claim, true or false (`key`), and because of what."""

    key: bool
    reason: tuple[Reason, ...]

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return self.reason


class SpotError(Question, frozen=True, kw_only=True, tag_field="form", tag="spot-the-error"):
    """An argument in steps, or lines of code: which one is wrong, and what is right."""

    step: tuple[Step, ...]
    reason: tuple[Reason, ...]
    code: bool = False

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return self.reason

    @property
    def named_by_answers(self) -> frozenset[str]:
        steps = (step.misconception for step in self.step if step.misconception)
        return super().named_by_answers | frozenset(steps)

    @property
    def error(self) -> int:
        """The number of the wrong step, from 1."""
        return [step.wrong for step in self.step].index(True) + 1


class Why(Question, frozen=True, kw_only=True, tag_field="form", tag="why"):
    """A question and its answers, of which one is right."""

    reason: tuple[Reason, ...]

    @property
    def reasons(self) -> tuple[Reason, ...]:
        return self.reason


class Numeric(Question, frozen=True, kw_only=True, tag_field="form", tag="numeric"):
    """A number with a unit. `answer` and the `wrong` formulas are in `unit`, over `parameters` (name → its values).

    In the texts `{{N}}` stands for a parameter and `{{N * 2}}` for a formula of parameters.
    """

    unit: str
    answer: str
    rel: float = 0.01
    parameters: dict[str, tuple[int | str, ...]] = msgspec.field(default_factory=dict)
    wrong: tuple[WrongValue, ...] = ()

    @property
    def named_by_answers(self) -> frozenset[str]:
        return frozenset(value.misconception for value in self.wrong)


class Ordering(Question, frozen=True, kw_only=True, tag_field="form", tag="ordering"):
    """Steps in the order they happen; learners see them in the order `shown` (numbers from 1)."""

    step: tuple[Step, ...]
    shown: tuple[int, ...]

    @property
    def named_by_answers(self) -> frozenset[str]:
        return frozenset(step.misconception for step in self.step if step.misconception)

    @property
    def listed(self) -> tuple[Step, ...]:
        """The steps as they are shown, lettered a, b, c …"""
        return tuple(self.step[number - 1] for number in self.shown)

    @property
    def right(self) -> tuple[str, ...]:
        """The letters in the right order."""
        return tuple(LETTERS[self.shown.index(number)] for number in range(1, len(self.step) + 1))


class Essay(Question, frozen=True, kw_only=True, tag_field="form", tag="essay"):
    """A question a person grades. `explanation` is a model answer; the shares of the `rubric` add up to 1."""

    rubric: tuple[Mark, ...]


Item = TwoTier | SpotError | Why | Numeric | Ordering | Essay
FORMS = ("two-tier", "spot-the-error", "why", "numeric", "ordering", "essay")
