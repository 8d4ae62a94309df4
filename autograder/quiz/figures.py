"""Figures in the texts of items, and the formulas they come from: none is typed without one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from autograder.item import Numeric, Ordering, Question, SpotError
from autograder.judge import formula

_NUMBER = r"\d+(?:\.\d+)?"
_FIGURE = re.compile(
    rf"(?<![\w.^])({_NUMBER}(?:-{_NUMBER})?)"
    r"(?:\$?[ -](KB|MB|GB|TB|MiB|GiB|KiB|B|bytes?|Gbit/s|GB/s|TB/s|TFLOP/s|ms|µs|s)\b"
    r"|(GB|MB|TB|GiB|KiB|ms)\b|\s?(%|×(?!\s?\d)))"
)


def figures(text: str) -> set[str]:
    """All figures with a unit in `text`, like "31.4 GB", "1-2 %" and "17 ×"."""
    return {f"{m[1]} {(m[2] or m[3] or m[4]).replace('bytes', 'byte')}" for m in _FIGURE.finditer(text)}


def texts(item: Question) -> Iterator[str]:
    """All texts of an item that learners read."""
    yield from (item.statement, item.explanation, item.regime)
    for reason in item.reasons:
        yield from (reason.text, reason.refutation)
    if isinstance(item, SpotError | Ordering):
        for step in item.step:
            yield from (step.text, step.refutation)
    if isinstance(item, Numeric):
        yield from (wrong.refutation for wrong in item.wrong)


def problems(item: Question) -> Iterator[str]:
    """What is wrong with the figures of an item, one sentence each."""
    whole = "\n".join(texts(item))
    found = figures(re.sub(r"\{\{.+?\}\}", "x", whole))
    known = item.numbers.keys() | set(item.given)
    for figure in sorted(found - known):
        yield f"{figure}: no formula in `numbers`, and not `given` by the item"
    for figure in sorted(set(item.given) - found):
        yield f"{figure}: given, and stands nowhere in the item"
    for figure in sorted(item.numbers.keys() & set(item.given)):
        yield f"{figure}: both computed and given"
    for figure, text in item.numbers.items():
        shown = figure.split()[0]
        if figure not in found and figure not in whole:
            yield f"{figure}: has a formula, and stands nowhere in the item"
            continue
        try:
            value = formula.value(text)
        except formula.FormulaProblem as problem:
            yield f"{figure}: {problem}"
            continue
        if not re.fullmatch(_NUMBER, shown):
            yield f"{figure}: begins with no number, so no formula can give it"
        elif abs(Fraction(shown) - value) > Fraction(1, 2 * 10 ** len(shown.partition(".")[2])):
            yield f"{figure}: its formula gives {float(value):g}"
