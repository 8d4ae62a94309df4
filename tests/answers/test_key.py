"""Keys: what they hold, how they share points, and that every mistake in one is told with its place."""

from __future__ import annotations

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from answers.helpers import Bank, key, two_tier
from autograder.judge.key import KeyProblem, load_key

REGION = """
### BEGIN HIDDEN TESTS
expect.quantity("dp", "112 GB", wrong={"28 GB": "alpha"})
expect.function("f", like=lambda P, N: 16 * P / N, given={"P": draw.integers(1, 10**12), "N": draw.choice([1, 2, 8])},
                edges=[{"P": 8, "N": 1}], wrong={"beta": lambda P, N: 16 * P})
expect.choice("c", "b", among=["a", "b"], weight=2)
### END HIDDEN TESTS
"""


def test_a_key_has_its_parts_in_order_and_shares_points_by_weight() -> None:
    made = key(REGION)
    assert [(p.id, p.max_score) for p in made.parts] == [("2.1/dp", 1.0), ("2.1/f", 1.0), ("2.1/c", 2.0)]


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=9), st.floats(0.1, 50))
def test_the_shares_sum_to_the_points_exactly(weights: list[float], points: float) -> None:
    region = "\n".join(f'expect.choice("c{i}", "a", among="ab", weight={w!r})' for i, w in enumerate(weights))
    made = key(region, points=points)
    assert math.fsum(part.max_score for part in made.parts) == pytest.approx(points, abs=0, rel=1e-15)


def test_budget_and_math_are_in_scope() -> None:
    made = key('expect.quantity("x", math.sqrt(4) * 8 / budget.__name__.count("budget"))')
    assert made.parts[0].name == "x"


def test_the_digest_changes_with_what_decides_and_with_nothing_else() -> None:
    base = key(REGION).digest
    assert key(REGION.replace("\n", "\n\n") + "# a remark").digest == base
    assert key(REGION, points=5).digest != base
    for old, new in (
        ("112 GB", "113 GB"), ("28 GB", "29 GB"), ('28 GB": "alpha', '28 GB": "gamma'), ("16 * P / N", "17 * P / N"),
        ('"P": 8', '"P": 9'), ("10**12", "10**13"), ('"b", among', '"a", among'), ("weight=2", "weight=3"),
        ("lambda P, N: 16 * P}", "lambda P, N: 4 * P}"),
    ):  # fmt: skip
        assert old in REGION
        assert key(REGION.replace(old, new)).digest != base, (old, new)


def test_the_digest_follows_helpers_and_the_bank() -> None:
    region = "def f(P, N): return {} * P / N\nexpect.function('f', like=f, edges=[{{'P': 8, 'N': 1}}])"
    assert key(region.format(16)).digest != key(region.format(4)).digest
    bank, other = two_tier(), two_tier()
    other.items["q001"] = msgspec.structs.replace(other.items["q001"], key=True)
    item = 'expect.item("q001")'
    assert key(item, "q001", bank=bank).digest != key(item, "q001", bank=other).digest


def test_an_item_alone_in_its_cell_gives_short_ids() -> None:
    alone = key('expect.item("q001")', "q001", 1.0, two_tier())
    assert [(p.id, p.name, p.max_score) for p in alone.parts] == [
        ("q001/claim", "q001/claim", 0.5), ("q001/because", "q001/because", 0.5)]  # fmt: skip
    beside = key('expect.item("q001")', "1.4", 1.0, two_tier())
    assert [p.id for p in beside.parts] == ["1.4/q001/claim", "1.4/q001/because"]


Q = 'expect.quantity("dp", "112 GB"'
F = 'expect.function("f", given={"N": draw.integers(1, 9)}, like='
C = 'expect.choice("c", "b", among=["a", "b"]'


@pytest.mark.parametrize(
    ("region", "words"),
    [
        ("", "expect nothing"),
        ("x = (", "line 1"),
        ("x = 1\n1 / 0", "line 2 of the hidden tests: ZeroDivisionError"),
        ("\n\nassert False", "line 3"),
        ("import nothing_there", "No module named"),
        (
            Q + ', wrong={"111.5 GB": "alpha"})',
            "the wrong value 111.5 GB (alpha) is within 0.01 of the right one",
        ),
        (Q + ', wrong={"104.3 GiB": "alpha"})', "is within"),
        (Q + ', wrong={"28 GB": "nobody"})', "no misconception 'nobody'"),
        (Q + ', wrong={"28 GB": "alpha", "28.1 GB": "beta"})', "would name two misconceptions"),
        (Q + ', wrong={"28 s": "alpha"})', "that is a time"),
        (Q + ', unit="furlong")', "not a unit"),
        (Q + ', unit="s")', "that is an amount of memory"),
        (Q + ", rel=1.5)", "rel=1.5"),
        (Q + ", rel=-1)", "rel=-1"),
        (Q + ", weight=0)", "weight 0"),
        (Q + ", colour=3)", "colour"),
        (Q + ")\n" + Q + ")", "line 2 of the hidden tests: dp is expected twice"),
        ('expect.quantity("a b", 3)', "no name an answer can have"),
        ('expect.quantity("x", float("nan"))', "not finite"),
        ('expect.quantity("x", True)', "is no number"),
        ('expect.quantity("x", None)', "is no number"),
        (F + "lambda N: 1 / (N - N))", "like fails for N = "),
        (F + "lambda N: None)", "no finite number"),
        (F + "lambda N: float('inf'))", "no finite number"),
        (F + "lambda N: [1, 'a'])", "a list of number and text"),
        (F + "lambda M: 1)", "like fails"),
        (F + "lambda N: N, wrong={'alpha': lambda N: N + 1e-12})", "is never wrong"),
        (F + "lambda N: N, wrong={'alpha': lambda N: -N, 'beta': lambda N: 0 - N})", "cannot be told apart"),
        (F + "lambda N: N, wrong={'alpha': lambda N: 1 / 0})", "alpha fails for"),
        (F + "lambda N: N, edges=[{'N': object()}])", "inputs are numbers"),
        (F + "lambda N: N, draws=0)", "draws=0"),
        ('expect.function("f", like=lambda: 1)', "nothing to call it with"),
        ('expect.function("f", like=len, given={"N": draw.integers(5, 4)})', "nothing to draw"),
        (C + ', wrong={"b": "alpha"})', "b is right and names"),
        (C + ', wrong={"z": "alpha"})', "'z' is none of the choices"),
        (C.replace('"b", a', '"z", a') + ")", "'z' is none of the choices"),
        (C.replace('["a", "b"]', '["b", "B"]') + ")", "two or more different options"),
        ('expect.choices("c", {"a"}, among="abc", wrong={"a": "alpha"})', "a is right and names"),
        ('expect.item("q999")', "no item 'q999' in the bank"),
    ],
)
def test_a_mistake_in_a_key_is_told_with_its_place(region: str, words: str) -> None:
    with pytest.raises(KeyProblem) as problem:
        key(region)
    assert words in str(problem.value)
    assert str(problem.value).startswith("level-2.py: exercise 2.1")


@pytest.mark.parametrize("points", [0, -1, math.nan, math.inf])
def test_points_are_points(points: float) -> None:
    with pytest.raises(KeyProblem, match="points"):
        load_key("2.1", points, REGION, Bank())
