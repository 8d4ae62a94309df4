"""What a table of scores says about its items and about itself. Each measure is None where there are too few learners
for it, or where it is not defined (everybody has the same score).

Rows are learners, columns items, entries scores between 0 and 1. Formulas:

- difficulty: the mean score of an item (the classical p-value: high is easy)
- discrimination: the item-rest correlation, that is Pearson's r between an item and the sum of all *other* items
  (corrected point-biserial where the item is right or wrong); the sum with the item in it would correlate with itself
- reliability: Cronbach's alpha, k/(k-1) · (1 - Σ var(item) / var(sum)) with population variances; for items that are
  right or wrong it is Kuder and Richardson's formula 20 (Psychometrika 2, 1937)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import StatisticsError, correlation, fmean, pvariance

Row = Sequence[float]

FEWEST_FOR_MEAN = 5
"""Learners below which a share of the class says more about who they are than about the question."""
FEWEST_FOR_CORRELATION = 20
"""Learners below which a correlation is mostly chance: its standard error is about 1/√(n-3), 0.24 at 20."""


def difficulty(scores: Sequence[float]) -> float | None:
    """The mean score of an item, between 0 and 1; None for fewer than 5 learners."""
    return fmean(scores) if len(scores) >= FEWEST_FOR_MEAN else None


def discrimination(rows: Sequence[Row], item: int) -> float | None:
    """The correlation of column `item` with the sum of the others, -1 to 1; None for fewer than 20 learners, for an
    item or a rest that is the same for all, and for a single item.
    """
    if len(rows) < FEWEST_FOR_CORRELATION or len(rows[0]) < 2:
        return None
    own = [row[item] for row in rows]
    rest = [math.fsum(row) - row[item] for row in rows]
    if _same(own) or _same(rest):
        return None
    try:
        return correlation(own, rest)
    except StatisticsError:
        return None


def alpha(rows: Sequence[Row]) -> float | None:
    """Cronbach's alpha of the table, at most 1; None for fewer than 20 learners, fewer than two items, or a sum that is
    the same for all. It may be negative: then the items do not measure one thing.
    """
    if len(rows) < FEWEST_FOR_CORRELATION or len(rows[0]) < 2:
        return None
    sums = [math.fsum(row) for row in rows]
    if _same(sums):
        return None
    count = len(rows[0])
    within = math.fsum(pvariance(column) for column in zip(*rows, strict=True))
    return count / (count - 1) * (1 - within / pvariance(sums))


def is_dichotomous(rows: Sequence[Row]) -> bool:
    """Whether every score is 0 or 1: then `alpha` is KR-20."""
    return all(score in (0, 1) for row in rows for score in row)


def upper_and_lower(totals: Sequence[float]) -> tuple[list[int], list[int]]:
    """The places of the upper and of the lower 27% of the totals (Kelley 1939), at least one each where there are two
    learners or more. Ties at the border go by place, so that both halves have one size.
    """
    size = max(1, round(0.27 * len(totals))) if len(totals) > 1 else 0
    order = sorted(range(len(totals)), key=lambda place: (totals[place], place))
    return order[len(order) - size :], order[:size]


def _same(values: Sequence[float]) -> bool:
    return math.isclose(min(values), max(values), rel_tol=0, abs_tol=1e-12)
