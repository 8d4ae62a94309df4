"""Answers as plain data: any object beside learner code, any JSON in the judge."""

from __future__ import annotations

import decimal
import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.learner import units, values
from autograder.learner.values import Malformed, NotReadable, Value, decode, encode, value_of

PLAIN = units.ask("")


@pytest.mark.parametrize(
    "answer",
    [
        7,
        7.0,
        np.int64(7),
        np.float32(7),
        np.float64(7),
        np.array(7),
        np.array(7.0),
        Fraction(7),
        Fraction(14, 2),
        decimal.Decimal(7),
        np.uint8(7),
    ],
)
def test_numbers_of_all_types_are_one_number(answer: object) -> None:
    assert value_of(answer) == Value("number", Fraction(7))


def test_torch_scalars_are_numbers() -> None:
    torch = pytest.importorskip("torch")
    assert value_of(torch.tensor(7.0, requires_grad=True)) == Value("number", Fraction(7))
    assert value_of(torch.tensor([1, 2])) == value_of([1, 2])


def test_bool_is_no_number() -> None:
    for answer in (True, np.bool_(True), np.array(True)):
        assert value_of(answer) == Value("bool", True)
        with pytest.raises(NotReadable, match="that is True"):
            values.to_base(value_of(answer), PLAIN)


class Evil:
    def __float__(self) -> float:
        raise RuntimeError("no")

    def __eq__(self, other: object) -> bool:
        return True

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __hash__(self) -> int:
        return 0


class EvilList(list[int]):
    def __iter__(self) -> Any:
        raise RuntimeError("no")


@pytest.mark.parametrize(
    "answer", [Evil(), None, object(), 1j, {"a": 1}, b"x", EvilList([1]), iter([1]), {Evil()}]
)
def test_other_objects_are_named_and_no_answer(answer: object) -> None:
    value = value_of(answer)
    assert value.kind == "other"
    with pytest.raises(NotReadable, match="this asks for a plain number"):
        values.to_base(value, PLAIN)


def test_sizes_are_capped() -> None:
    assert len(value_of("x" * 10**6).data) == values.TEXT_LIMIT
    assert value_of([0] * 10**6).kind == "other"
    assert value_of(np.zeros(10**6)).kind == "other"
    nested: list[Any] = []
    for _ in range(10_000):
        nested = [nested]
    assert len(json.dumps(encode(nested))) < 200
    assert math.isinf(value_of(10**5000).data)
    assert math.isinf(value_of(-(10**5000)).data)
    assert value_of(Fraction(10**500 + 1, 10**500)) == Value("number", Fraction(1))
    assert value_of(lambda *, x: 0) == Value("function", ("x",))
    assert len(encode(type("T" * 10**5, (), {})())["x"]) < 50


def test_lone_surrogates_do_not_break_the_line() -> None:
    json.dumps(encode("\ud800")).encode()
    assert value_of("\ud800").kind == "text"


@pytest.mark.parametrize("answer", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_what_is_not_finite_is_told(answer: float) -> None:
    value = value_of(answer)
    assert value.kind == "number"
    with pytest.raises(NotReadable, match=r"NaN|infinite"):
        values.to_base(value, PLAIN)


@given(
    st.one_of(st.integers(), st.floats(allow_nan=False), st.fractions(), st.text(max_size=50), st.booleans())
)
def test_what_goes_over_the_wire_comes_back(answer: Any) -> None:
    wired = json.loads(json.dumps(encode(answer)))
    value = decode(wired)
    if isinstance(answer, str):
        assert value.data == answer.encode("utf-8", "replace").decode()
    elif isinstance(answer, bool):
        assert value == Value("bool", answer)
    else:
        exact = float(value.data) == answer if isinstance(answer, float) else value.data == answer
        assert exact


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from("nbtlfx") | st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=20,
)


@given(json_values)
def test_any_json_is_a_value_or_malformed(wire: Any) -> None:
    try:
        value = decode(wire)
    except Malformed:
        return
    assert len(str(value)) < 5000
    try:
        values.to_base(value, PLAIN)
    except NotReadable as problem:
        assert str(problem)


@pytest.mark.parametrize(
    "wire",
    [
        {"n": "1e400"},
        {"n": "1" * 420},
        {"n": "1e999999999"},
        {"n": "-1e999999999"},
        {"n": "1e-999999999"},
        {"n": float("inf")},
        {"n": float("nan")},
        {"n": 10**4000},
        {"l": [{"l": [{"l": [{"l": [{"l": []}]}]}]}]},
        {"l": [{"b": True}] * 5000},
    ],
)
def test_extremes_stay_small(wire: Any) -> None:
    value = decode(wire)
    assert len(str(value)) < 1000
    assert not isinstance(value.data, Fraction) or abs(value.data) < 10**450


@pytest.mark.parametrize(
    "wire", [None, 3, [], {}, {"n": 1, "t": ""}, {"n": True}, {"n": "1/0"}, {"n": "1" * 9999}, {"n": "1e5x"}, {"z": 1},
             {"f": [1]}, {"l": 3}, {"t": None}, {"b": 1}, {"n": "0x10"}, {"n": "1_0"}]
)  # fmt: skip
def test_what_is_no_value_is_malformed(wire: Any) -> None:
    with pytest.raises(Malformed):
        decode(wire)


def test_exact_means_exact_for_whole_numbers_and_rounding_for_others() -> None:
    assert values.same(value_of(10**18), value_of(10**18), PLAIN, 0)
    assert not values.same(value_of(10**18), value_of(10**18 + 1), PLAIN, 0)
    assert values.same(value_of(0.3), value_of(0.1 + 0.2), PLAIN, 0)
    assert not values.same(value_of(0.3), value_of(0.3001), PLAIN, 0)


def test_lists_are_compared_element_by_element() -> None:
    right = value_of([[2, 2], [1, 0]])
    assert values.same(right, value_of(np.array([[2, 2], [1, 0]])), PLAIN, 0)
    assert values.same(right, value_of(((2, 2.0), (1, 0))), PLAIN, 0)
    assert not values.same(right, value_of([[2, 2], [0, 1]]), PLAIN, 0)
    assert not values.same(right, value_of([[2, 2]]), PLAIN, 0)
    with pytest.raises(NotReadable, match="this asks for a list"):
        values.same(right, value_of(3), PLAIN, 0)
