"""Judges choices: one option, or several options. The tiers of items are in `item.py`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.judge.heard import Heard
from autograder.judge.part import Judged, PartKey, Tell
from autograder.learner import choices
from autograder.learner.choices import Option
from autograder.learner.values import NotReadable


@dataclass(frozen=True, kw_only=True)
class ChoicePart(PartKey):
    """One option of `among` is right; `wrong` maps options to misconceptions. Options by their text. `texts` says what
    stands behind a letter; `refutations` are an option's own words, said in place of its misconception's.
    """

    among: tuple[Option, ...]
    right: str
    wrong: Mapping[str, str] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    refutations: Mapping[str, str] = field(default_factory=dict)

    def judge(self, heard: Heard, seed: bytes, tell: Tell) -> Judged:
        given = heard.answers[self.name]
        evidence = {"expected": self.right, "given": str(given)}
        try:
            option = choices.one(given, self.among, self.texts)
        except NotReadable as problem:
            return Judged(0, f"{problem}.", evidence=evidence)
        if option == self.right:
            return self.when_right(heard, evidence)
        ident = self.wrong.get(option)
        if option in self.refutations:
            return Judged(0, own_words(self.says(option, tell)), ident, evidence)
        return Judged(0, tell.reason(ident) if ident else "Not right.", ident, evidence)

    def when_right(self, heard: Heard, evidence: dict[str, Any]) -> Judged:
        """The word on the right option."""
        return Judged(1, self.right_words, evidence=evidence)

    def says(self, option: str, tell: Tell) -> dict[str, str]:
        """What is said of a wrong option: its own refutation, under the misconception's name."""
        ident = self.wrong.get(option)
        known = tell.texts(ident) if ident else {"name": "", "text": "", "see": ""}
        return {**known, "text": self.refutations.get(option) or known["text"]}

    def decides(self) -> Any:
        return ["choice", [str(o) for o in self.among], self.right, sorted(self.wrong.items())]


@dataclass(frozen=True, kw_only=True)
class ChoicesPart(PartKey):
    """The options in `right` are to be chosen and no others. Each option sorted rightly is an equal share of the
    points; choosing all or none sorts nothing and earns nothing (unless it is right).
    """

    among: tuple[Option, ...]
    right: frozenset[str]
    wrong: Mapping[str, str] = field(default_factory=dict)

    def judge(self, heard: Heard, seed: bytes, tell: Tell) -> Judged:
        given = heard.answers[self.name]
        evidence: dict[str, Any] = {"expected": sorted(self.right), "given": str(given)}
        try:
            chosen = choices.several(given, self.among)
        except NotReadable as problem:
            return Judged(0, f"{problem}.", evidence=evidence)
        options = [str(option) for option in self.among]
        held = sum((option in chosen) == (option in self.right) for option in options)
        if held == len(options):
            return Judged(1, self.right_words, evidence=evidence)
        fraction = 0.0 if len(chosen) in (0, len(options)) else held / len(options)
        words = f"{held} of {len(options)} options are sorted rightly."
        if not fraction and held:
            words += f" Choosing {'none' if not chosen else 'all'} of them sorts nothing."
        ident = next((self.wrong[o] for o in options if o in chosen and o in self.wrong), None)
        return Judged(fraction, tell.reason(ident, words) if ident else words, ident, evidence)

    def decides(self) -> Any:
        return ["choices", [str(o) for o in self.among], sorted(self.right), sorted(self.wrong.items())]


def own_words(said: Mapping[str, str]) -> str:
    """“name”. The refutation."""
    return " ".join(part for part in (f"“{said['name']}”." if said["name"] else "", said["text"]) if part)
