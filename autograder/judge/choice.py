"""Judges choices: one option, several options, and the two tiers of an item (claim, then reason)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from autograder.judge.heard import Heard
from autograder.judge.part import Judged, PartKey, Tell
from autograder.learner import choices
from autograder.learner.choices import Option
from autograder.learner.values import MISSING, NotReadable

LETTERS = "abcdefgh"


@dataclass(frozen=True, kw_only=True)
class ChoicePart(PartKey):
    """One option of `among` is right; `wrong` maps options to misconceptions. Options by their text."""

    among: tuple[Option, ...]
    right: str
    wrong: Mapping[str, str] = field(default_factory=dict)

    def judge(self, heard: Heard, seed: bytes, tell: Tell) -> Judged:
        given = heard.answers[self.name]
        evidence = {"expected": self.right, "given": str(given)}
        try:
            option = choices.one(given, self.among)
        except NotReadable as problem:
            return Judged(0, f"{problem}.", evidence=evidence)
        if option == self.right:
            return Judged(1, self.right_words, evidence=evidence)
        ident = self.wrong.get(option)
        return Judged(0, tell.reason(ident) if ident else "Not right.", ident, evidence)

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


@dataclass(frozen=True, kw_only=True)
class ClaimPart(ChoicePart):
    """The claim of an item, True or False; `item` is what the learner's variable is called."""

    item: str
    use: str = "practice"


@dataclass(frozen=True, kw_only=True)
class BecausePart(ChoicePart):
    """The reason of an item, by letter. It counts only with the right claim. `refutations` by letter."""

    item: str
    claim: str
    claim_right: str
    use: str = "practice"
    refutations: Mapping[str, str] = field(default_factory=dict)

    def judge(self, heard: Heard, seed: bytes, tell: Tell) -> Judged:
        given = heard.answers[self.name]
        evidence = {"expected": self.right, "given": str(given)}
        try:
            letter = choices.one(given, self.among)
        except NotReadable as problem:
            return Judged(0, f"{problem}.", evidence=evidence)
        if letter != self.right:
            said = self.says(letter, tell)["wrong"]
            named = [f"“{said['name']}”."] if said["name"] else []
            reason = " ".join([*named, said["text"] or "Not the reason."])
            return Judged(0, reason, self.wrong.get(letter), evidence)
        if not self._claim_holds(heard):
            return Judged(0, NEEDS_CLAIM, evidence=evidence)
        return Judged(1, self.right_words, evidence=evidence)

    def says(self, letter: str, tell: Tell) -> dict[str, dict[str, str]]:
        """What is said of a wrong reason: its own refutation, under the misconception's name."""
        ident = self.wrong.get(letter)
        known = tell.texts(ident) if ident else {"name": "", "text": "", "see": ""}
        return {"wrong": {**known, "text": self.refutations.get(letter) or known["text"]}}

    def _claim_holds(self, heard: Heard) -> bool:
        try:
            return choices.one(heard.answers.get(self.claim, MISSING), (True, False)) == self.claim_right
        except NotReadable:
            return False

    def decides(self) -> Any:
        return [*super().decides(), "because", self.claim, self.claim_right]


NEEDS_CLAIM = "A reason counts only with the right claim."


def item_parts(exercise: str, item: Any, weight: float = 1.0) -> tuple[ClaimPart, BecausePart]:
    """The two parts of a two-tier item of the bank. Letters follow the order of `item.reasons`. Raises ValueError."""
    reasons = tuple(item.reasons)
    if not 2 <= len(reasons) <= len(LETTERS) or sum(bool(r.right) for r in reasons) != 1:
        raise ValueError(f"item {item.id}: wants 2 to {len(LETTERS)} reasons, exactly one of them right")
    letters = dict(zip(LETTERS, reasons, strict=False))
    prefix = "" if item.id == exercise else f"{item.id}/"
    common: dict[str, Any] = {"exercise": exercise, "weight": weight / 2, "because": item.explanation}
    common |= {"item": item.id, "use": item.use}
    claim = ClaimPart(
        name=f"{item.id}/claim",
        id=f"{exercise}/{prefix}claim",
        among=(True, False),
        right=str(bool(item.key)),
        **common,
    )
    reason = BecausePart(
        name=f"{item.id}/because",
        id=f"{exercise}/{prefix}because",
        among=tuple(letters),
        right=next(letter for letter, r in letters.items() if r.right),
        wrong={letter: r.misconception for letter, r in letters.items() if not r.right and r.misconception},
        refutations={letter: r.refutation for letter, r in letters.items() if not r.right},
        claim=claim.name,
        claim_right=claim.right,
        **common,
    )
    return claim, reason
