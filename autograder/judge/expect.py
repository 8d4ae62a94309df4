"""What a hidden-test region calls: each `expect.…` is the key of one answer.

Runs text of the course's own source, never of a hand-in. Every mistake in a key raises ValueError, which `key.load_key`
turns into a message with file, exercise and line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from autograder.judge.choice import ChoicePart, ChoicesPart
from autograder.judge.draw import Draw
from autograder.judge.function import FunctionPart, check_function
from autograder.judge.item import drawn, item_parts
from autograder.judge.part import PartKey
from autograder.judge.quantity import QuantityPart, check_known, known_value
from autograder.learner import choices, units
from autograder.learner.choices import Option
from autograder.learner.draw import face as draw_face
from autograder.learner.values import NotReadable, value_of


class Expect:
    """Collects the parts of one exercise. `items` and `misconceptions` are the course's, by id; `learner` is whose
    hand-in the key is for, "" for nobody's.
    """

    def __init__(
        self, exercise: str, items: Mapping[str, Any], misconceptions: Mapping[str, Any], learner: str = ""
    ) -> None:
        self._exercise = exercise
        self._learner = learner
        self._items = items
        self._misconceptions = misconceptions
        self.parts: list[PartKey] = []

    def quantity(
        self,
        name: str,
        right: str | int | float | Fraction,
        *,
        unit: str | None = None,
        rel: float = 0.01,
        wrong: Mapping[str | int | float | Fraction, str] | None = None,
        weight: float = 1.0,
        because: str = "",
    ) -> None:
        """A number with a unit. `right` and the keys of `wrong` are texts ("112 GB") or numbers in `unit` (default:
        right's own unit), which a learner's bare number takes too. `rel`: relative tolerance, 0 for exact.
        """
        self._rel(rel)
        asked, value = known_value(right, unit, f"{name}: right")
        known = []
        for key, ident in (wrong or {}).items():
            self._known(ident)
            known.append((known_value(key, asked.unit, f"{name}: wrong")[1], ident))
        part = QuantityPart(
            **self._common(name, weight, because), asked=asked, right=value, rel=rel, wrong=tuple(known)
        )
        check_known(part)
        self.parts.append(part)

    def function(
        self,
        name: str,
        *,
        like: Callable[..., Any],
        given: Mapping[str, Draw] | Draw | None = None,
        edges: Iterable[Mapping[str, Any]] = (),
        examples: Iterable[Mapping[str, Any]] = (),
        wrong: Mapping[str, Callable[..., Any]] | None = None,
        unit: str | None = None,
        rel: float = 1e-6,
        weight: float = 1.0,
        draws: int = 8,
        because: str = "",
    ) -> None:
        """A function that does as `like`, called by the names in `given`. `edges` are always tried; `examples` are
        tried in a learner's own notebook, which shows them. `wrong` maps misconceptions to wrong functions.
        """
        self._rel(rel)
        for ident in wrong or {}:
            self._known(ident)
        if not 1 <= draws <= 100:
            raise ValueError(f"{name}: draws={draws} is outside 1 to 100")
        part = FunctionPart(
            **self._common(name, weight, because),
            like=like,
            given=given if given is not None else {},
            asked=units.ask(unit),
            rel=rel,
            edges=tuple(map(dict, edges)),
            examples=tuple(map(dict, examples)),
            wrong=tuple((wrong or {}).items()),
            draws=draws,
        )
        check_function(part)
        self.parts.append(part)

    def choice(
        self,
        name: str,
        right: Option,
        *,
        among: Sequence[Option],
        wrong: Mapping[Option, str] | None = None,
        weight: float = 1.0,
        because: str = "",
    ) -> None:
        """One option of `among`: letters, texts, True/False, whole numbers. `wrong` maps options to misconceptions."""
        options = self._options(name, among)
        part = ChoicePart(
            **self._common(name, weight, because),
            among=options,
            right=self._option(name, right, options),
            wrong=self._wrong(name, wrong, options),
        )
        if part.right in part.wrong:
            raise ValueError(
                f"{name}: {part.right} is right and names the misconception {part.wrong[part.right]}"
            )
        self.parts.append(part)

    def choices(
        self,
        name: str,
        right: Iterable[Option],
        *,
        among: Sequence[Option],
        wrong: Mapping[Option, str] | None = None,
        weight: float = 1.0,
        because: str = "",
    ) -> None:
        """All options of `right` and no other. `wrong` maps options that are not to be chosen to misconceptions."""
        options = self._options(name, among)
        part = ChoicesPart(
            **self._common(name, weight, because),
            among=options,
            right=frozenset(self._option(name, each, options) for each in right),
            wrong=self._wrong(name, wrong, options),
        )
        for option in part.right & part.wrong.keys():
            raise ValueError(f"{name}: {option} is right and names the misconception {part.wrong[option]}")
        self.parts.append(part)

    def item(self, ident: str, *, weight: float = 1.0, face: int = 0, confidence: bool = False) -> None:
        """An item of the bank, judged as its form is; `face` says with which numbers, `confidence` asks how sure."""
        self._add(item_parts(self._exercise, self._item(ident), weight, face=face, confidence=confidence))

    def drawn(
        self,
        slot: str,
        *,
        where: str,
        among: Sequence[Sequence[str]],
        weight: float = 1.0,
        confidence: bool = False,
    ) -> None:
        """The item drawn for the learner this key is for, out of `among`: for each item its faces, as "id#face".
        `where` names the slot ("quiz-2/s1"), as in what the learner's notebook shows.
        """
        made = {
            one: self._face(slot, one, weight, confidence)  # each must be a good key, whoever this one is for
            for faces in among
            for one in faces
        }
        self._add(drawn(part, self._learner) for part in made[draw_face(self._learner, where, among)])

    def _face(self, slot: str, one: str, weight: float, confidence: bool) -> tuple[PartKey, ...]:
        ident, _, number = one.partition("#")
        face = int(number or 0)
        return item_parts(
            self._exercise, self._item(ident), weight, name=slot, face=face, confidence=confidence
        )

    def _item(self, ident: str) -> Any:
        if ident not in self._items:
            raise ValueError(f"no item {ident!r} in the bank")
        item = self._items[ident]
        for known in item.named:
            self._known(known)
        return item

    def _add(self, parts: Iterable[PartKey]) -> None:
        for part in parts:
            self._common(part.name, part.weight, "")
            self.parts.append(part)

    # --- what all kinds check ---------------------------------------------------------------------------------------

    def _common(self, name: str, weight: float, because: str) -> dict[str, Any]:
        if not all(word.isidentifier() for word in name.split("/")):
            raise ValueError(f"{name!r} is no name an answer can have in submit(…)")
        if any(part.name == name for part in self.parts):
            raise ValueError(f"{name} is expected twice")
        if not (math.isfinite(weight) and weight > 0):
            raise ValueError(f"{name}: weight {weight} is not above 0")
        ident = f"{self._exercise}/{name}"
        return {"exercise": self._exercise, "name": name, "id": ident, "weight": weight, "because": because}

    def _known(self, ident: str) -> None:
        if ident not in self._misconceptions:
            raise ValueError(f"no misconception {ident!r} in misconceptions.toml")

    @staticmethod
    def _rel(rel: float) -> None:
        if not 0 <= rel < 1:
            raise ValueError(f"rel={rel} is outside 0 to 1")

    @staticmethod
    def _options(name: str, among: Sequence[Option]) -> tuple[Option, ...]:
        options = tuple(among)
        if len({str(o).casefold() for o in options}) != len(options) or len(options) < 2:
            raise ValueError(f"{name}: among needs two or more different options")
        return options

    @staticmethod
    def _option(name: str, option: Option, options: tuple[Option, ...]) -> str:
        try:
            return choices.one(value_of(option), options)
        except NotReadable as problem:
            raise ValueError(f"{name}: {problem}") from None

    def _wrong(
        self, name: str, wrong: Mapping[Option, str] | None, options: tuple[Option, ...]
    ) -> dict[str, str]:
        for ident in (wrong or {}).values():
            self._known(ident)
        return {self._option(name, option, options): ident for option, ident in (wrong or {}).items()}
