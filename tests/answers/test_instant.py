"""Instant answers: the judge's own word, and nothing to read in the file."""

from __future__ import annotations

import base64
import json
import math
import re
import time
import zlib
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from answers.helpers import CHEAP, Bank, judge, key, two_tier, write_instant
from autograder.judge.instant import instant_record
from autograder.judge.key import Key
from autograder.learner import check, units
from autograder.learner.instant import COST, Lock, bucket, buckets
from autograder.learner.values import allowed, value_of
from autograder.verdict import PartStatus

KNOWN = Bank().misconceptions


def record(made: Key, cost: int = CHEAP) -> dict[str, Any]:
    whole = instant_record(made, b"salt", KNOWN, cost)
    return dict(json.loads(json.dumps(whole)))  # as it comes out of the file


def lines(made: Key, **answers: Any) -> tuple[check.Line, ...]:
    flat = {name.replace("__", "/"): answer for name, answer in answers.items()}
    return check.check(made.exercise, record(made), flat)


def line(made: Key, **answers: Any) -> check.Line:
    (only,) = lines(made, **answers)
    return only


# --- the same word as the judge's ------------------------------------------------------------------------------------


@cache
def made(right: str, unit: str | None, rel: float, wrong: str) -> Key:
    return key(f'expect.quantity("x", {right!r}, unit={unit!r}, rel={rel!r}, wrong={{{wrong!r}: "alpha"}})')


@settings(max_examples=300, deadline=None)
@given(
    number=st.floats(1e-6, 1e15) | st.integers(1, 10**6).map(float),
    units_=st.sampled_from([("GB", "GB"), ("B", "GiB"), ("ms", "s"), ("GB/s", "Gbps"), ("", "%"), ("", "")]),
    rel=st.sampled_from([0.0, 1e-6, 0.001, 0.01, 0.05, 0.3, 0.9]),
    off=st.floats(-3, 3) | st.sampled_from([0.0, -1.0, 1.0, math.nextafter(1, 0), math.nextafter(1, 2)]),
    negative=st.booleans(),
    data=st.data(),
)
def test_an_instant_word_on_a_quantity_is_the_judges(
    number: float, units_: tuple[str, str], rel: float, off: float, negative: bool, data: st.DataObject
) -> None:
    asked, written = units_
    signed = -number if negative else number
    right, wrong = f"{signed!r} {asked}".strip(), f"{7.5 * signed!r} {asked}".strip()
    quantity = made(right, asked or None, rel, wrong)
    base = units.read(data.draw(st.sampled_from([right, wrong])), units.ask(asked)) * (
        1 + Fraction(off) * Fraction(rel)
    )
    given = data.draw(
        st.sampled_from(
            [
                f"{float(base / units.ask(written).factor)!r} {written}".strip(),
                float(base / units.ask(asked).factor),
            ]
        )
    )
    said = line(quantity, x=given)
    (part,) = judge(quantity, x=given)
    assert (said.state == "right") == (part.status is PartStatus.PASSED)
    assert said.state in ("right", "wrong")
    assert (said.title == "Belief alpha") == (part.misconception == "alpha")


@settings(max_examples=300, deadline=None)
@given(
    st.fractions(Fraction(1, 10**9), 10**12),
    st.floats(1e-7, 0.9),
    st.fractions(-1, 1),
    st.sampled_from(["", "GB", "ms"]),
)
def test_every_accepted_value_falls_in_a_known_bucket(
    right: Fraction, rel: float, at: Fraction, unit: str
) -> None:
    asked = units.ask(unit)
    low, high = allowed(right * asked.factor, rel, asked)
    given = low + (high - low) * (at + 1) / 2
    forms = buckets(value_of(right), "number", asked, rel)
    assert bucket(value_of(given / asked.factor), "number", asked, rel) in forms
    assert len(forms) <= 3


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(-50, 50), max_size=5),
    st.lists(st.floats(-1.5, 1.5), min_size=5, max_size=5),
    st.sampled_from([0.0, 1e-6, 0.01]),
)
def test_an_instant_word_on_a_list_is_the_judges(numbers: list[int], off: list[float], rel: float) -> None:
    made = key(f'expect.function("f", like=lambda: {numbers}, edges=[{{}}], examples=[{{}}], rel={rel})')
    given = [x * (1 + o * rel) for x, o in zip(numbers, off, strict=False)]
    (part,) = judge(made, f=lambda: given)
    assert (line(made, f=lambda: given).state == "holds") == (part.status is PartStatus.PASSED)


FORMULA = key("""
expect.function("f", like=lambda P, N: 16 * P / N, given={"P": draw.integers(1, 10**12), "N": draw.choice([2, 4, 8])},
    examples=[{"P": 7 * 10**9, "N": 8}, {"P": 30, "N": 2}, {"P": 5, "N": 1}],
    wrong={"alpha": lambda P, N: 16 * P, "beta": lambda P, N: 4 * P / N})
""")


def test_functions_hold_on_the_examples_and_are_never_called_right() -> None:
    said = line(FORMULA, f=lambda P, N: P / N * 16)
    assert (said.state, said.text) == ("holds", "the judge tries it on other inputs.")


def test_wrong_functions_have_a_name_only_when_all_examples_agree() -> None:
    said = line(FORMULA, f=lambda P, N: 16 * P)
    assert (said.state, said.title, said.see) == ("wrong", "Belief alpha", "step alpha")
    assert said.text.startswith("Refuted alpha. For P = 7000000000, N = 8 it gives 112000000000")
    assert line(FORMULA, f=lambda P, N: 4 * P / N).title == "Belief beta"
    assert line(FORMULA, f=lambda P, N: 16 * P if N == 8 else P).title == ""


def test_functions_that_fail_are_told() -> None:
    def stub(P: int, N: int) -> float:
        raise NotImplementedError()

    assert line(FORMULA, f=stub).state == "missing"
    assert line(FORMULA, f=...).state == "missing"
    assert line(FORMULA).state == "missing"
    said = line(FORMULA, f=lambda P, N: P / 0)
    assert said.text == "For P = 7000000000, N = 8 it raised ZeroDivisionError: division by zero"
    assert line(FORMULA, f=3).state == "unreadable"
    said = line(FORMULA, f=lambda P, N: None)
    assert said.state == "wrong"
    assert "that is nothing (None)" in said.text
    assert line(key('expect.function("f", like=lambda: 1, edges=[{}])'), f=lambda: 1).state == "unsure"


def test_a_function_that_never_ends_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check, "FUNCTION_SECONDS", 0.2)

    def forever(P: int, N: int) -> float:
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                continue

    started = time.process_time()
    assert "TimeoutError" in line(FORMULA, f=forever).text
    assert time.process_time() - started < 2


CHOICE = key('expect.choice("c", "b", among="abc", wrong={"a": "alpha"}, because="So it is.")')
CHOICES = key('expect.choices("c", {"a", "c", "d"}, among="abcd", wrong={"b": "alpha"})')
ITEM = key('expect.item("q001")', "q001", 1.0, two_tier())


@pytest.mark.parametrize("given", ["a", "b", "(B)", "c", "z", 3, "abc"])
def test_an_instant_word_on_a_choice_is_the_judges(given: Any) -> None:
    said, (part,) = line(CHOICE, c=given), judge(CHOICE, c=given)
    assert (said.state == "right") == (part.status is PartStatus.PASSED)
    assert (said.title == "Belief alpha") == (part.misconception == "alpha")
    if said.state == "right":
        assert said.text == "So it is."


@pytest.mark.parametrize("given", ["acd", "ac", "abcd", [], "b", "z", ["a", "c", "d"]])
def test_an_instant_word_on_choices_is_the_judges(given: Any) -> None:
    said, (part,) = line(CHOICES, c=given), judge(CHOICES, c=given)
    assert (said.state == "right") == (part.status is PartStatus.PASSED)
    assert (said.title == "Belief alpha") == (part.misconception == "alpha")


@pytest.mark.parametrize("claim", [True, False, ..., "x"])
@pytest.mark.parametrize("because", ["a", "b", "c", "d", ..., "x"])
def test_an_instant_word_on_an_item_is_the_judges(claim: Any, because: Any) -> None:
    said = lines(ITEM, q001__claim=claim, q001__because=because)
    parts = judge(ITEM, q001__claim=claim, q001__because=because)
    for one, part in zip(said, parts, strict=True):
        assert (one.state == "right") == (part.status is PartStatus.PASSED)
        assert (one.state == "missing") == (part.status is PartStatus.MISSING)
    if claim in (True, False) and because == "a":
        assert (said[1].title, said[1].text) == ("Belief alpha", "Not so: first.")


def test_an_item_answered_with_something_else_is_told() -> None:
    assert [one.state for one in lines(ITEM, q001=True)] == ["unreadable", "unreadable"]
    assert [one.state for one in lines(ITEM, q001=...)] == ["missing", "missing"]


def test_graded_items_say_nothing() -> None:
    graded = key('expect.item("q001")', "q001", 1.0, two_tier("graded"))
    whole = record(graded)
    asks = ["claim", "because"]
    letters = {"a": "first", "b": "second", "c": "third", "d": "fourth"}
    # what can be read in the notebook anyway, so that an answer that is none is told; nothing of the key
    assert whole["parts"] == {
        "q001/claim": {"kind": "recorded", "of": "claim", "among": [True, False], "asks": asks},
        "q001/because": {
            "kind": "recorded",
            "of": "because",
            "among": list(letters),
            "texts": letters,
            "claim": "q001/claim",
            "claims": [True, False],
            "asks": asks,
        },
    }
    assert [one.state for one in lines(graded, q001__claim="perhaps", q001__because="Second.")] == [
        "unreadable",
        "recorded",
    ]
    assert [one.state for one in lines(graded, q001__claim=False, q001__because=...)] == [
        "recorded",
        "missing",
    ]


def test_a_wrong_value_never_shadows_a_right_one() -> None:
    near = key('expect.quantity("x", 100, rel=0.01, wrong={"101.5": "alpha", "98.5": "beta"})')
    for close in (99.2, 99.6, 100, 100.4, 100.8):
        assert line(near, x=close).state == "right"
    assert line(near, x=101.6).title == "Belief alpha"


def test_remarks_on_how_an_answer_was_read() -> None:
    quantity = key('expect.quantity("x", "112 GB")')
    assert "read in GB" in line(quantity, x=112e9).text
    assert "8 bits make a byte" in line(quantity, x="112 Gb").text
    assert line(quantity, x="3 s").state == "unreadable"
    assert line(quantity, x=True).state == "unreadable"


# --- nothing to read -------------------------------------------------------------------------------------------------

CANARY = key(
    """
expect.quantity("memory", "87654321 kB", wrong={"23456789 kB": "alpha"}, because="Canary: sixteen bytes each.")
expect.function("f", like=lambda P: 87654321 * P, edges=[{"P": 1}], examples=[{"P": 3}],
    wrong={"beta": lambda P: 23456789 * P})
expect.choice("c", "pineapple", among=["apple", "pineapple", "melon"], wrong={"apple": "gamma"})
expect.choices("d", {"x", "z"}, among="xyz", wrong={"y": "gamma"})
expect.item("q001")
""",
    bank=two_tier(),
)


def spellings(number: int) -> list[str]:
    forms = [
        str(number),
        f"{number:,}",
        f"{number:_}",
        f"{number:.6e}",
        f"{number:.4g}",
        hex(number)[2:],
        repr(number / 1e6),
    ]
    forms += [
        str(number * 8),
        str(number * 1000),
        str(number * 8000),
        f"{math.log(number):.6f}",
        f"{number / 2**20:.4f}",
    ]
    return [*forms, str(number)[:5], f"{number / 1e9:.4f}", f"{number / 1e6:.3f}"]


def haystacks(text: str) -> list[str]:
    """The file's text, and what anybody would try on its base64."""
    found = [text]
    for word in re.findall(r"[A-Za-z0-9+/=]{40,}", text):
        raw = base64.b64decode(word)
        found.append(raw.decode("latin-1"))
        found.append(raw.hex())
        try:
            found.append(zlib.decompress(raw).decode("latin-1"))
        except zlib.error:
            continue
    return found


def test_no_answer_is_readable_in_the_file(tmp_path: Path) -> None:
    path = write_instant(tmp_path, CANARY)
    text = path.read_text()
    secrets = [*spellings(87654321), *spellings(87654321 * 3), *spellings(23456789), *spellings(23456789 * 3)]
    secrets += [
        "Canary",
        "sixteen",
        "Belief",
        "Refuted",
        "alpha",
        "beta",
        "gamma",
        "Not so",
        "Activations",
        "right",
        "wrong",
    ]
    for hay in haystacks(text):
        for secret in secrets:
            if len(secret) > 4:
                assert secret not in hay, secret
    # the check can fail: the options, which are public, are found
    assert "pineapple" in text


def test_neither_length_nor_order_nor_digest_tells_the_right_entry() -> None:
    whole = record(CANARY)
    assert whole.keys() == {"salt", "cost", "parts"}
    for part in whole["parts"].values():
        table = part["table"]
        assert len({len(sealed) for sealed in table.values()}) == 1
        assert list(table) == sorted(table)
    assert len(whole["parts"]["c"]["table"]) == 3
    assert len(whole["parts"]["d"]["table"]) == 6


def test_equal_answers_look_different_in_every_place() -> None:
    twice = key('expect.choice("a", "x", among="xy")\nexpect.choice("b", "x", among="xy")')
    tables = [set(part["table"]) for part in record(twice)["parts"].values()]
    elsewhere = key('expect.choice("a", "x", among="xy")', "2.2")
    tables.append(set(record(elsewhere)["parts"]["a"]["table"]))
    other_salt = instant_record(twice, b"other", KNOWN, CHEAP)
    tables.append(set(other_salt["parts"]["a"]["table"]))
    assert len(set().union(*tables)) == 8


def test_records_are_the_same_when_made_twice_and_follow_what_they_say() -> None:
    assert record(CANARY) == record(CANARY)
    other = Bank().misconceptions
    other["alpha"].refutation = "Otherwise."
    assert instant_record(CANARY, b"salt", other, CHEAP) != instant_record(CANARY, b"salt", KNOWN, CHEAP)


def test_one_try_is_slow_enough_to_deter_and_fast_enough_to_use() -> None:
    started = time.process_time()
    Lock(b"salt", COST, "2.1/dp").key("", "+ 100")
    assert 0.02 < time.process_time() - started < 1.0


def test_the_cost_stands_in_the_record() -> None:
    assert record(CHOICE, 4)["cost"] == 4
    assert instant_record(CHOICE, b"salt", KNOWN)["cost"] == COST


@settings(max_examples=60, deadline=None)
@given(
    st.text(max_size=30)
    | st.integers()
    | st.floats()
    | st.none()
    | st.booleans()
    | st.lists(st.integers(), max_size=3)
)
def test_anything_can_be_checked(given: Any) -> None:
    whole = record(CANARY)
    answers = {
        "memory": given,
        "f": lambda P: given,
        "c": given,
        "d": given,
        "q001/claim": given,
        "q001/because": given,
    }
    said = check.check("2.1", whole, answers)
    assert len(said) == 6
    assume(given not in ("pineapple", "xz"))
    assert said[0].state != "right"
