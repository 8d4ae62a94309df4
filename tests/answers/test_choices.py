"""Which option an answer names."""

from __future__ import annotations

from typing import Any

import pytest

from autograder.learner import choices
from autograder.learner.choices import Option
from autograder.learner.values import NotReadable, value_of

ABCD: tuple[Option, ...] = ("a", "b", "c", "d")


@pytest.mark.parametrize("given", ["b", "B", " b ", "(b)", "b)", "b.", "'b'", "[b]"])
def test_letters(given: str) -> None:
    assert choices.one(value_of(given), ABCD) == "b"


@pytest.mark.parametrize("given", [True, "True", "true", "TRUE", "T", "t", " yes "])
def test_true(given: Any) -> None:
    assert choices.one(value_of(given), (True, False)) == "True"


@pytest.mark.parametrize("given", [False, "False", "false", "F", "no"])
def test_false(given: Any) -> None:
    assert choices.one(value_of(given), (True, False)) == "False"


def test_texts_and_numbers() -> None:
    assert choices.one(value_of("all-gather"), ("All-gather", "reduce-scatter")) == "All-gather"
    assert choices.one(value_of(" zero   stage 3 "), ("ZeRO stage 2", "ZeRO stage 3")) == "ZeRO stage 3"
    assert choices.one(value_of(3), (1, 2, 3)) == "3"
    assert choices.one(value_of(3.0), (1, 2, 3)) == "3"
    assert choices.one(value_of("3"), (1, 2, 3)) == "3"


@pytest.mark.parametrize(
    "given", ["z", "", "ab", 1, 0, True, 2.5, None, [], ["a"], float("nan"), "a" * 900, print]
)
def test_what_names_none_is_told(given: Any) -> None:
    with pytest.raises(NotReadable, match="none of the choices: a, b, c, d"):
        choices.one(value_of(given), ABCD)


def test_one_and_zero_are_not_true_and_false() -> None:
    for given in (1, 0, "1"):
        with pytest.raises(NotReadable):
            choices.one(value_of(given), (True, False))


@pytest.mark.parametrize(
    "given",
    [
        "a, c",
        "ac",
        "a c",
        "A,C",
        "a and c",
        "c;a",
        "(a), (c)",
        "{a, c}",
        ["a", "c"],
        {"a", "c"},
        ("C", "A", "a"),
    ],
)
def test_several(given: Any) -> None:
    assert choices.several(value_of(given), ABCD) == {"a", "c"}


@pytest.mark.parametrize("given", [[], set(), "", "none", "[]"])
def test_none_of_them_is_a_choice(given: Any) -> None:
    assert choices.several(value_of(given), ABCD) == set()


def test_several_words() -> None:
    stages = ("parameters", "gradients", "optimizer state")
    assert choices.several(value_of("parameters, gradients"), stages) == {"parameters", "gradients"}
    assert choices.several(value_of("optimizer state"), stages) == {"optimizer state"}


@pytest.mark.parametrize("given", ["a, z", ["a", 3], 5, None, "xyz", "a," * 450])
def test_several_that_are_none(given: Any) -> None:
    if given == "a," * 450:
        with pytest.raises(NotReadable, match="no list of choices"):
            choices.several(value_of(given), ABCD)
    else:
        with pytest.raises(NotReadable, match="none of the choices"):
            choices.several(value_of(given), ABCD)
