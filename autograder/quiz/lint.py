"""What makes a bank fair, beyond what it must have to load. Every finding names file, line and rule.

`lint` runs in `shardlab verify`. It cannot pass on an empty bank: having nothing to look at is a finding.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from autograder.content import Course
from autograder.item import Essay, Item, Numeric, Ordering, Question, SpotError, TwoTier
from autograder.judge import formula
from autograder.judge.item import item_parts
from autograder.quiz import figures
from autograder.quiz.text import BadMaths, mathml, spans
from autograder.tomlfile import TomlFile

ABSOLUTES = ("always", "never", "only", "all", "every", "none", "any")
_NEGATIONS = re.compile(
    r"\b(not|no|never|cannot|without|neither|nor|unless|nothing|nobody|none)\b|n't\b", re.IGNORECASE
)
_LONGEST_CLAIM = 50  # words
_FEWEST = 8
"""Items of which a share is taken: with fewer, a share says nothing."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: where, which rule, what."""

    file: str
    line: int
    rule: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.rule}: {self.what}"


@dataclass(frozen=True)
class Placed:
    """An item and where it stands."""

    item: Item
    file: str
    line: int

    def finds(self, rule: str, what: str) -> Finding:
        return Finding(self.file, self.line, rule, f"{self.item.id}: {what}")


def lint(course: Course) -> list[Finding]:
    """All findings on the bank of `course`; none when it is fair."""
    bank = placed(course)
    if not bank:
        return [Finding("quizbank", 1, "not-empty", "the bank holds no item, so nothing was checked")]
    found = [finding for one in bank for rule in _OF_ONE for finding in rule(one)]
    for whole in _OF_ALL:
        found += whole(bank)
    return sorted(found, key=lambda finding: (finding.file, finding.line, finding.rule, finding.what))


def placed(course: Course) -> list[Placed]:
    """Every item of the bank with its file (below the course's root) and line."""
    found = []
    for path in sorted((course.root / "quizbank").glob("*.toml")):
        if path.name in ("misconceptions.toml", "corrections.toml"):
            continue
        file = TomlFile(path)
        for index, raw in enumerate(file.values.get("item", [])):
            name = str(Path("quizbank") / path.name)
            found.append(Placed(course.items[raw["id"]], name, file.line(("item", index))))
    return found


# --- rules of one item --------------------------------------------------------------------------------------


def _complete(one: Placed) -> Iterator[Finding]:
    item = one.item
    if not re.fullmatch(r"[a-z]\w*", item.id):
        yield one.finds("id", "an id is a small letter, then letters and digits")
    if item.version < 1 or not 1 <= item.level <= 5:
        yield one.finds("level", "version is 1 or more, level 1 to 5")
    for field in ("statement", "explanation", "regime", "source"):
        if not getattr(item, field).strip():
            yield one.finds("complete", f"{field} is empty")
    if not item.tags:
        yield one.finds("complete", "no tags")
    if not item.misconceptions and not isinstance(item, Essay):
        yield one.finds("complete", "names no misconception it is written for")
    if len(item.explanation) < 40:
        yield one.finds("says-why", "an explanation that short says no why")


def _choices(one: Placed) -> Iterator[Finding]:
    item = one.item
    reasons = item.reasons
    if not reasons:
        return
    if not 2 <= sum(not reason.right for reason in reasons) <= 4:
        yield one.finds("choices", "two to four wrong choices")
    for reason in reasons:
        if reason.right and (reason.misconception or reason.refutation):
            yield one.finds("choices", f"the right choice has a refutation: {reason.text!r}")
        if not reason.right and reason.misconception is None and isinstance(item, TwoTier):
            yield one.finds("choices", f"a wrong reason names no misconception: {reason.text!r}")
    named = [reason.misconception for reason in reasons if reason.misconception]
    if len(set(named)) != len(named):
        yield one.finds("choices", "two choices show one misconception")
    if not set(item.misconceptions) & item.named_by_answers:
        yield one.finds("choices", "no answer shows a misconception it is written for")


def _claim(one: Placed) -> Iterator[Finding]:
    item = one.item
    if not isinstance(item, TwoTier):
        return
    claim = item.statement
    if len(_NEGATIONS.findall(claim)) > 1:
        yield one.finds("double-negative", claim)
    if ";" in claim or len(claim.split()) > _LONGEST_CLAIM:
        yield one.finds("one-idea", f"one idea a claim, in {_LONGEST_CLAIM} words at most")
    if claim.rstrip().endswith("?"):
        yield one.finds("claim", "a claim is no question")


def _maths(one: Placed) -> Iterator[Finding]:
    for text in figures.texts(one.item):
        bare = re.sub(r"\{\{.+?\}\}", "1", text)
        rest = "".join(span.text for span in spans(bare) if span.kind == "text")
        if "$" in rest:
            yield one.finds("maths", f"a dollar without its partner: {text!r}")
        if "**" in rest or "`" in rest:
            yield one.finds("markup", f"a mark without its partner: {text!r}")
        for span in spans(bare):
            if span.kind == "math":
                try:
                    mathml(span.text)
                except BadMaths as problem:
                    yield one.finds("maths", str(problem))


def _figures(one: Placed) -> Iterator[Finding]:
    for problem in figures.problems(one.item):
        yield one.finds("computed", problem)


def _numeric(one: Placed) -> Iterator[Finding]:
    item = one.item
    if not isinstance(item, Numeric):
        return
    if len(item.wrong) < 2:
        yield one.finds("numeric", "two known wrong values or more")
    if not item.parameters:
        yield one.finds("numeric", "no parameters to draw")
    used = "\n".join((item.answer, item.statement))
    for name in item.parameters:
        if not re.search(rf"\b{re.escape(name)}\b", used):
            yield one.finds("numeric", f"parameter {name} is not used")
    rights = set()
    for face, names in enumerate(formula.faces(item)):
        try:
            item_parts("lint", item, face=face)
            for text in figures.texts(item):
                formula.fill(text, names)
            rights.add(formula.value(item.answer, names))
        except ValueError as problem:
            yield one.finds("numeric", f"with {names}: {problem}")
    if len(rights) < 2 and len(formula.faces(item)) > 1:
        yield one.finds("numeric", "the same answer whatever the parameters")


def _order(one: Placed) -> Iterator[Finding]:
    item = one.item
    if isinstance(item, Ordering) and list(item.shown) == sorted(item.shown):
        yield one.finds("ordering", "shown in the right order")


def _steps(one: Placed) -> Iterator[Finding]:
    if isinstance(one.item, SpotError) and not 3 <= len(one.item.step) <= 8:
        yield one.finds("steps", "three to eight steps")


# --- rules of the whole bank --------------------------------------------------------------------------------


def _balance(bank: list[Placed]) -> Iterator[Finding]:
    claims = [one for one in bank if isinstance(one.item, TwoTier)]
    true = [one for one in claims if isinstance(one.item, TwoTier) and one.item.key]
    if len(claims) >= _FEWEST and not Fraction(45, 100) <= Fraction(len(true), len(claims)) <= Fraction(
        55, 100
    ):
        yield Finding(
            "quizbank", 1, "true-keys", f"{len(true)} of {len(claims)} claims are true; 45-55% should be"
        )
    for word in ABSOLUTES:
        of = {key: [one for one in claims if _has(one.item, word, key)] for key in (True, False)}
        for key, ones in of.items():
            if ones and not of[not key]:
                places = ", ".join(one.item.id for one in ones)
                yield ones[0].finds(
                    "absolutes", f"“{word}” stands in {str(key).lower()} claims alone: {places}"
                )


def _has(item: Item, word: str, key: bool) -> bool:
    return (
        isinstance(item, TwoTier)
        and item.key is key
        and bool(re.search(rf"\b{word}\b(?![-/])", item.statement, re.IGNORECASE))
    )


def _giveaways(bank: list[Placed]) -> Iterator[Finding]:
    chosen = [one for one in bank if one.item.reasons]
    if len(chosen) < _FEWEST:
        return
    chance = sum(Fraction(1, len(one.item.reasons)) for one in chosen)
    for what, extreme in (("longest", max), ("shortest", min)):
        hits = [one for one in chosen if _extreme(one.item, extreme)]
        if len(hits) > chance:
            names = ", ".join(one.item.id for one in hits)
            yield Finding(
                "quizbank",
                1,
                "length",
                f"the right choice is the {what} in {len(hits)} items, by chance {float(chance):.1f}: {names}",
            )
    places = Counter(next(c for c, r in enumerate(one.item.reasons) if r.right) for one in chosen)
    expected: dict[int, Fraction] = defaultdict(Fraction)
    for one in chosen:
        for place in range(len(one.item.reasons)):
            expected[place] += Fraction(1, len(one.item.reasons))
    for place, count in places.items():
        if count > Fraction(3, 2) * expected[place] + 2:
            letter = "abcdefgh"[place]
            yield Finding("quizbank", 1, "place", f"{letter} is right in {count} of {len(chosen)} items")


def _extreme(item: Question, extreme: Callable[[list[int]], int]) -> bool:
    """Whether the right choice alone has the extreme length."""
    lengths = [len(reason.text) for reason in item.reasons]
    (right,) = (len(reason.text) for reason in item.reasons if reason.right)
    return right == extreme(lengths) and lengths.count(right) == 1


def _different(bank: list[Placed]) -> Iterator[Finding]:
    seen: dict[str, str] = {}
    for one in bank:
        for text in {_bare(text) for text in figures.texts(one.item)} - {"", _bare(one.item.regime)}:
            if len(text.split()) > 6 and seen.setdefault(text, one.item.id) != one.item.id:
                yield one.finds("duplicate", f"says what {seen[text]} says: {text!r}")
        for first, second in itertools.combinations(one.item.reasons, 2):
            if _bare(first.text) == _bare(second.text):
                yield one.finds("duplicate", f"two choices are one: {first.text!r}")


def _bare(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text).casefold().split())


def _misconceptions(bank: list[Placed]) -> Iterator[Finding]:
    named: dict[str, list[Placed]] = defaultdict(list)
    for one in bank:
        for ident in one.item.named:
            named[ident].append(one)
    for ident, ones in sorted(named.items()):
        if len(ones) < 3:
            places = ", ".join(one.item.id for one in ones)
            yield ones[0].finds("coverage", f"{ident} stands in {len(ones)} items, should in three: {places}")
        keys = {one.item.key for one in ones if isinstance(one.item, TwoTier)}
        for missing in {True, False} - keys:
            yield ones[0].finds("coverage", f"{ident} stands in no claim that is {str(missing).lower()}")


_OF_ONE: tuple[Callable[[Placed], Iterator[Finding]], ...] = (
    _complete,
    _choices,
    _claim,
    _maths,
    _figures,
    _numeric,
    _order,
    _steps,
)
_OF_ALL: tuple[Callable[[list[Placed]], Iterator[Finding]], ...] = (
    _balance,
    _giveaways,
    _different,
    _misconceptions,
)


# --- figures of the lint ------------------------------------------------------------------------------------


def counts(course: Course) -> dict[str, dict[str, int]]:
    """How many items there are: by form, level, topic, misconception and key."""
    items = list(course.items.values())
    named = Counter(ident for item in items for ident in item.named)
    keys = Counter(str(item.key) for item in items if isinstance(item, TwoTier))
    return {
        "form": dict(Counter(item.form for item in items).most_common()),
        "level": dict(sorted(Counter(str(item.level) for item in items).items())),
        "topic": dict(sorted(Counter(item.topic for item in items).items())),
        "misconception": dict(named.most_common()),
        "key": dict(keys.most_common()),
    }
