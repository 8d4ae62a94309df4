"""What is common to the keys of all kinds of answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.judge.heard import Heard
from autograder.learner.show import pointer
from autograder.verdict import PartStatus


@dataclass(frozen=True)
class Judged:
    """The judge's word on one answer: a `fraction` of its points, or a `status` that earns nothing.

    `reason` is for learners and never holds the expected value; `evidence` is for graders and does.
    """

    fraction: float
    reason: str
    misconception: str | None = None
    evidence: dict[str, Any] = field(default_factory=dict)
    status: PartStatus | None = None


class Tell:
    """Misconceptions in words, from the course's table (objects with `name`, `refutation`, `see`), for one exercise."""

    def __init__(self, misconceptions: Mapping[str, Any], exercise: str) -> None:
        self._known = misconceptions
        self._exercise = exercise

    def reason(self, ident: str, more: str = "") -> str:
        """“name”. The refutation, where to look, and `more`."""
        known = self._known.get(ident)
        if known is None:
            return " ".join(part for part in (ident, more) if part)
        see = pointer(known.see, self._exercise)
        return " ".join(part for part in (f"“{known.name}”.", known.refutation, see, more) if part)

    def texts(self, ident: str) -> dict[str, str]:
        """The same as fields, for a learner's notebook."""
        known = self._known.get(ident)
        if known is None:
            return {"id": ident, "name": ident, "text": "", "see": ""}
        return {"id": ident, "name": known.name, "text": known.refutation, "see": known.see}


@dataclass(frozen=True, kw_only=True)
class PartKey(ABC):
    """The key of one answer: `name` on the wire, `id` in the verdict, what it is worth, what to say when right.

    A part of an item of the bank has `item`, what the learner's variable is called, the item's `use`, and `asks`, the
    names its `answer(…)` takes.
    """

    exercise: str
    name: str
    id: str
    weight: float = 1.0
    max_score: float = 0.0
    because: str = ""
    item: str = ""
    use: str = "practice"
    asks: tuple[str, ...] = ()

    @abstractmethod
    def judge(self, heard: Heard, seed: bytes, tell: Tell) -> Judged:
        """Judges the answer in `heard.answers[name]`, which is there and not missing."""

    @abstractmethod
    def decides(self) -> Any:
        """What decides, as plain data, for the digest: equal for equal keys."""

    @property
    def right_words(self) -> str:
        return self.because or "Right."
