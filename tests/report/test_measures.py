"""The class report's measures, against figures worked out by hand and classes simulated with a known truth."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.report.classroom import measures

# Four items, all right or wrong, by hand: sums 4,3,2,1,0 four times over. Item p-values 0.8, 0.6, 0.4, 0.2;
# Σpq = 0.16 + 0.24 + 0.24 + 0.16 = 0.80; variance of the sums = 2; KR-20 = 4/3 · (1 − 0.8/2) = 0.8.
GUTTMAN = [[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]] * 4


def test_kr20_by_hand() -> None:
    assert measures.is_dichotomous(GUTTMAN)
    assert measures.alpha(GUTTMAN) == pytest.approx(0.8)


def test_item_rest_correlation_by_hand() -> None:
    # Item 1: x = 1,1,1,1,0, rest = 3,2,1,0,0. Means 0.8 and 1.2;
    # cov = (0.2·1.8 + 0.2·0.8 − 0.2·0.2 − 0.2·1.2 + 0.8·1.2)/5 = 0.24; var x = 0.16;
    # var rest = (3.24 + 0.64 + 0.04 + 1.44 + 1.44)/5 = 1.36; r = 0.24/√(0.16·1.36).
    assert measures.discrimination(GUTTMAN, 0) == pytest.approx(0.24 / math.sqrt(0.16 * 1.36))


def test_the_item_is_not_correlated_with_itself() -> None:
    # two items that have nothing to do with one another: uncorrected, each would correlate 0.71 with the sum
    rows = [[a, b] for a in (0, 1) for b in (0, 1)] * 6
    assert measures.discrimination(rows, 0) == pytest.approx(0.0)
    assert measures.alpha(rows) == pytest.approx(0.0)


def test_too_few_is_said_not_computed() -> None:
    assert measures.difficulty([1.0] * 4) is None
    assert measures.difficulty([1.0] * 5) == 1.0
    assert measures.discrimination(GUTTMAN[:19], 0) is None
    assert measures.alpha(GUTTMAN[:19]) is None


def test_what_is_the_same_for_all_has_no_correlation() -> None:
    rows = [[1, number % 2] for number in range(20)]
    assert measures.discrimination(rows, 0) is None
    assert measures.discrimination(rows, 1) is None, "the rest is one item that all have right"
    assert measures.alpha([[1, 1]] * 20) is None
    assert measures.alpha([[1]] * 20) is None


def test_a_class_with_known_truth() -> None:
    """400 learners, ability normal, nine items that ask for it, one that tosses a coin and one with a wrong key."""
    draw = random.Random(1)
    rows = []
    for _ in range(400):
        ability = draw.gauss(0, 1)
        good = [float(ability + draw.gauss(0, 1) > cut / 4) for cut in range(-4, 5)]
        rows.append([*good, float(draw.random() < 0.5), float(ability + draw.gauss(0, 1) < 0)])
    sorts = [measures.discrimination(rows, item) for item in range(11)]
    known = [one for one in sorts if one is not None]
    assert len(known) == 11
    assert min(known[:9]) > 0.2, "items that ask for what the others ask"
    assert abs(known[9]) < 0.15, "a coin"
    assert known[10] < -0.2, "a wrong key"
    # parallel items: each pair correlates ρ = 1/2 before it is cut to right or wrong; KR-20 of the nine is high
    found = measures.alpha([row[:9] for row in rows])
    assert found is not None and 0.7 < found < 0.9
    hurt = measures.alpha(rows)
    assert hurt is not None and hurt < found


@given(
    st.lists(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=3, max_size=3), min_size=20, max_size=40
    )
)
def test_laws(rows: list[list[float]]) -> None:
    reliability = measures.alpha(rows)
    assert reliability is None or reliability <= 1 + 1e-9
    for item in range(3):
        found = measures.discrimination(rows, item)
        assert found is None or -1 - 1e-9 <= found <= 1 + 1e-9
        mirrored = [[1 - score for score in row] for row in rows]
        other = measures.discrimination(mirrored, item)
        assert (found is None) == (other is None)
        assert found is None or other == pytest.approx(found, abs=1e-9)


@given(st.lists(st.floats(0, 1), max_size=60))
def test_upper_and_lower_are_apart_and_of_one_size(totals: list[float]) -> None:
    upper, lower = measures.upper_and_lower(totals)
    assert len(upper) == len(lower)
    assert not set(upper) & set(lower)
    if upper:
        assert min(totals[place] for place in upper) >= max(totals[place] for place in lower)
