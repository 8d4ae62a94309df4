"""What the judge says of answers: score, misconception, reason, evidence."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from answers.helpers import SEED, heard, judge, judge_one, key, two_tier
from autograder.judge import draw
from autograder.judge.exercise import CellFailure, judge_cell
from autograder.judge.function import FunctionPart
from autograder.judge.heard import Heard, Result
from autograder.learner.values import value_of
from autograder.verdict import PartStatus

QUANTITY = key(
    'expect.quantity("dp", "112 GB", wrong={"28 GB": "alpha", "104 GB": "beta"}, because="16 B each.")'
)
FORMULA = key("""
expect.function("f", like=lambda P, N: 16 * P / N, given={"P": draw.integers(1, 10**12), "N": draw.choice([2, 4, 8])},
    edges=[{"P": 8, "N": 1}, {"P": 0, "N": 4}], wrong={"alpha": lambda P, N: 16 * P, "beta": lambda P, N: 4 * P / N})
""")


# --- quantities ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        "112 GB",
        "112e9 B",
        "104.3 GiB",
        112,
        112.0,
        np.float32(112),
        Fraction(112),
        "112",
        "111 GB",
        np.array(113.0),
    ],
)
def test_a_right_quantity(given: Any) -> None:
    part = judge_one(QUANTITY, dp=given)
    assert (part.status, part.score, part.reason) == (PartStatus.PASSED, 4.0, "16 B each.")
    assert part.key == QUANTITY.digest
    assert part.evidence["expected"] == "112 GB"


def test_a_misconception_does_not_point_at_the_exercise_at_hand() -> None:
    made = key('expect.quantity("dp", 7, wrong={"8": "alpha"})', "alpha")  # its `see` is "step alpha"
    assert judge_one(made, dp=8).reason == "“Belief alpha”. Refuted alpha."


def test_a_wrong_quantity_with_a_name() -> None:
    part = judge_one(QUANTITY, dp="28e9 B")
    assert (part.status, part.score, part.misconception) == (PartStatus.FAILED, 0.0, "alpha")
    assert part.reason == "“Belief alpha”. Refuted alpha. See step alpha."


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("113.2 GB", "Not right."),
        (112e9, "A bare number is read in GB"),
        ("112 Gb", "8 bits make a byte"),
        ("112 s", "that is a time; this asks for an amount of memory"),
        (True, "that is True"),
        (None, "that is nothing (None)"),
        (float("nan"), "NaN"),
        (float("inf"), "infinite"),
        (10**400, "Not right."),
        pytest.param(10**5000, "far out of range", id="huge"),
        ([112], "that is a list"),
        pytest.param([0] * 10**6, "too large", id="long"),
        pytest.param("x" * 10**6, "characters", id="text"),
        (object(), "object of type object"),
        (print, "that is a function"),
        ("<script>alert(1)</script>", "does not start with a number"),
        (-112, "Not right."),
    ],
)
def test_a_wrong_quantity_without_a_name(given: Any, words: str) -> None:
    part = judge_one(QUANTITY, dp=given)
    assert (part.status, part.score, part.misconception) == (PartStatus.FAILED, 0.0, None)
    assert words in part.reason
    assert "112 GB" not in part.reason


def test_a_missing_quantity() -> None:
    assert judge_one(QUANTITY, dp=...).status is PartStatus.MISSING
    assert judge_one(QUANTITY).status is PartStatus.MISSING


@pytest.mark.parametrize("rel", [0.01, 0.05, 0.1, 0.3, 0.7])
def test_the_edge_of_the_tolerance_as_it_is_written_is_right(rel: float) -> None:
    made = key(f'expect.quantity("x", 1000, rel={rel})')
    for edge in (1000 + round(1000 * rel), 1000 - round(1000 * rel)):
        assert judge_one(made, x=edge).score == 4.0


def test_exact_quantities() -> None:
    made = key('expect.quantity("n", 24, rel=0)')
    assert judge_one(made, n=24.0).score == 4.0
    assert judge_one(made, n=24.0001).score == 0
    zero = key('expect.quantity("n", 0)')
    assert judge_one(zero, n=0).score == 4.0
    assert judge_one(zero, n=1e-9).score == 0


def test_the_nearest_of_two_wrong_values_is_named() -> None:
    made = key('expect.quantity("x", 100, wrong={"50": "alpha", "50.6": "beta"}, rel=0.01)')
    assert judge_one(made, x=50.1).misconception == "alpha"
    assert judge_one(made, x=50.45).misconception == "beta"


@settings(max_examples=100, deadline=None)
@given(st.floats(0.02, 0.4), st.floats(-1.5, 1.5))
def test_the_tolerance_is_what_the_exercise_says(rel: float, off: float) -> None:
    made = key(f'expect.quantity("x", 1000, rel={rel!r})')
    given = 1000 * (1 + off * rel)
    assert (judge_one(made, x=given).score == 4.0) == (
        abs(Fraction(repr(given)) - 1000) <= 1000 * Fraction(repr(rel))
    )


# --- functions -------------------------------------------------------------------------------------------------------


def test_a_right_function() -> None:
    part = judge_one(FORMULA, f=lambda P, N: 16 * P / N)
    assert (part.status, part.score) == (PartStatus.PASSED, 4.0)
    assert len(part.evidence["calls"]) == 10


def test_other_parameter_names_are_called_in_order() -> None:
    assert judge_one(FORMULA, f=lambda params, ranks: 16 * params / ranks).score == 4.0
    assert judge_one(FORMULA, f=lambda *a: 16 * a[0] / a[1]).score == 4.0


def test_a_function_that_changes_its_inputs_is_judged_by_what_it_returns() -> None:
    made = key(
        'expect.function("f", like=lambda xs: sum(xs), given={"xs": draw.lists(draw.integers(0, 9), min=1)})'
    )

    def greedy(xs: list[int]) -> int:
        return sum(xs.pop() for _ in range(len(xs)))

    assert judge_one(made, f=greedy).score == 4.0


def test_a_wrong_function_with_a_name() -> None:
    part = judge_one(FORMULA, f=lambda P, N: P * 16)
    assert (part.score, part.misconception) == (0.0, "alpha")
    assert "Refuted alpha." in part.reason
    assert judge_one(FORMULA, f=lambda P, N: 4 * P / N).misconception == "beta"


def test_no_name_unless_all_inputs_agree() -> None:
    part = judge_one(FORMULA, f=lambda P, N: 16 * P if N > 2 else P)
    assert (part.score, part.misconception) == (0.0, None)
    assert "the drawn inputs: it gives another value" in part.reason


def test_edges_are_half_the_points_and_count_only_with_the_drawn() -> None:
    part = judge_one(FORMULA, f=lambda P, N: 16 * P / N if N > 1 else 0)
    assert (part.status, part.score) == (PartStatus.PARTIAL, 3.0)
    assert "but not for the edge case P = 8, N = 1: it gives another value" in part.reason
    only_edges = judge_one(FORMULA, f=lambda P, N: 128 if N == 1 else 0)
    assert (only_edges.score, only_edges.status) == (0.0, PartStatus.FAILED)


def test_edges_alone_share_the_points() -> None:
    made = key('expect.function("f", like=lambda N: N * N, edges=[{"N": 0}, {"N": 1}, {"N": 2}, {"N": 3}])')
    assert judge_one(made, f=lambda N: N).score == 2.0


def test_exceptions_are_told_and_not_written_yet_is_missing() -> None:
    assert "raises ZeroDivisionError: division by zero" in judge_one(FORMULA, f=lambda P, N: 1 / 0).reason

    def stub(P: int, N: int) -> int:
        raise NotImplementedError

    part = judge_one(FORMULA, f=stub)
    assert (part.status, part.score) == (PartStatus.MISSING, 0.0)

    def leave(P: int, N: int) -> int:
        raise SystemExit(3)

    assert "SystemExit" in judge_one(FORMULA, f=leave).reason


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (lambda P, N: None, "that is nothing (None)"),
        (lambda P, N: True, "that is True"),
        (lambda P, N: float("nan"), "NaN"),
        (lambda P, N: 10**5000, "far out of range"),
        (lambda P, N: [16 * P / N], "that is a list"),
        (lambda P, N: "16 GB", "this asks for a plain number"),
        (lambda P, N: 16 * P // N + 10**20, "another value"),
        (lambda P, N: object(), "object of type object"),
    ],
)
def test_what_a_function_returns_is_judged_by_value_and_type(given: Any, words: str) -> None:
    part = judge_one(FORMULA, f=given)
    assert part.score == 0
    assert words in part.reason


@pytest.mark.parametrize("given", [3, "16 * P / N", None, [lambda: 1], 112e9])
def test_what_is_no_function_is_told(given: Any) -> None:
    assert "this asks for a function" in judge_one(FORMULA, f=given).reason


def test_a_function_in_a_unit_may_return_texts() -> None:
    made = key(
        'expect.function("f", like=lambda P: f"{16 * P} B", given={"P": draw.integers(1, 10**9)}, unit="GB")'
    )
    assert judge_one(made, f=lambda P: 16 * P / 1e9).score == 4.0
    assert judge_one(made, f=lambda P: f"{16 * P} B").score == 4.0
    assert judge_one(made, f=lambda P: 16 * P).score == 0


def test_functions_on_lists() -> None:
    made = key("""
def sizes(rows, N):
    step = -(-rows // N)
    return [max(0, min(step, rows - i * step)) for i in range(N)]
expect.function("f", like=sizes, given={"rows": draw.integers(1, 50), "N": draw.integers(1, 9)},
    edges=[{"rows": 3, "N": 8}], rel=0, wrong={"alpha": lambda rows, N: [rows / N] * N})
""")

    def right(rows: int, N: int) -> Any:
        step = -(-rows // N)
        return np.clip(rows - step * np.arange(N), 0, step)

    assert judge_one(made, f=right).score == 4.0
    assert judge_one(made, f=lambda rows, N: tuple(right(rows, N))).score == 4.0
    assert judge_one(made, f=lambda rows, N: [rows / N] * N).misconception == "alpha"
    short = judge_one(made, f=lambda rows, N: list(right(rows, N))[:-1])
    assert "it gives a list of" in short.reason
    assert "this asks for a list" in judge_one(made, f=lambda rows, N: 3).reason


def test_functions_on_truths_and_texts() -> None:
    made = key(
        'expect.function("f", like=lambda gb: gb <= 80, given={"gb": draw.integers(1, 160)}, draws=20)'
    )
    assert judge_one(made, f=lambda gb: not gb > 80).score == 4.0
    assert judge_one(made, f=lambda gb: np.bool_(gb <= 80)).score == 4.0
    assert "True or False" in judge_one(made, f=lambda gb: 1).reason
    words = key(
        'expect.function("f", like=lambda n: "fits" if n < 5 else "too large", given={"n": draw.integers(0, 9)})'
    )
    assert judge_one(words, f=lambda n: "Fits" if n < 5 else " too  LARGE ").score == 4.0


def test_inputs_depend_on_the_seed_the_exercise_and_the_part() -> None:
    region = 'expect.function("{}", like=lambda N: N, given={{"N": draw.integers(1, 10**9)}})'

    def drawn(exercise: str, name: str, seed: bytes) -> Any:
        (part,) = key(region.format(name), exercise).parts
        assert isinstance(part, FunctionPart)
        return part.inputs(seed)

    base = drawn("2.1", "f", b"a")
    assert drawn("2.1", "f", b"a") == base
    assert base not in (drawn("2.1", "f", b"b"), drawn("2.2", "f", b"a"), drawn("2.1", "g", b"a"))


def test_draws_stay_in_their_range() -> None:
    rng = draw.generator(b"s", "x")
    for _ in range(300):
        assert 1 <= draw.integers(1, 10**12).sample(rng) <= 10**12
        assert draw.integers(8, 80, multiple_of=8).sample(rng) in range(8, 81, 8)
        assert -5 <= draw.integers(-5, 5).sample(rng) <= 5
        assert 1e-9 <= draw.floats(1e-9, 1).sample(rng) <= 1
        assert draw.choice([1, 2]).sample(rng) in (1, 2)
        assert draw.booleans().sample(rng) in (True, False)
        assert 2 <= len(draw.lists(draw.booleans(), min=2, max=3).sample(rng)) <= 3
    assert {len(str(draw.integers(1, 10**12).sample(rng))) for _ in range(300)} > {
        2,
        6,
        11,
    }  # all sizes are drawn
    paired = draw.make(lambda rng: {"P": (n := rng.randint(1, 9)) * 8, "N": n})
    assert paired.sample(rng)["P"] % 8 == 0


def test_inputs_that_depend_on_each_other() -> None:
    made = key("""
expect.function("f", like=lambda P, N: P // N, given=draw.make(lambda rng: {"P": 8 * (n := rng.randint(1, 9)), "N": n}))
""")
    assert judge_one(made, f=lambda P, N: 8).score == 4.0


def test_a_talk_that_broke_off() -> None:
    given = value_of(lambda P, N: 0)
    part = judge_cell(
        FORMULA,
        Heard(True, {"f": given}, {"f": (Result(kind="TimeoutError"),)}, "done"),
        seed=SEED,
        misconceptions={},
    )[0]
    assert (part.status, part.reason) == (PartStatus.TIMEOUT, "The function takes too long.")
    torn = Heard(True, {"f": given}, {}, "closed")
    assert judge_cell(FORMULA, torn, seed=SEED, misconceptions={})[0].status is PartStatus.CRASHED
    limit = CellFailure(PartStatus.LIMIT, "memory")
    part = judge_cell(FORMULA, torn, seed=SEED, misconceptions={}, failure=limit)[0]
    assert (part.status, part.reason) == (PartStatus.LIMIT, "memory")
    whole = heard(FORMULA, f=lambda P, N: 16 * P / N)
    cut = Heard(True, whole.answers, {"f": (*whole.results["f"][:8], Result(kind="TimeoutError"))}, "done")
    part = judge_cell(FORMULA, cut, seed=SEED, misconceptions={})[0]
    assert (part.status, part.score) == (PartStatus.PARTIAL, 2.0)


# --- choices ---------------------------------------------------------------------------------------------------------

CHOICE = key('expect.choice("c", "b", among="abc", wrong={"a": "alpha"})')
CHOICES = key('expect.choices("c", {"a", "c", "d"}, among="abcd", wrong={"b": "alpha"})')


def test_one_choice() -> None:
    assert judge_one(CHOICE, c="(B)").score == 4.0
    part = judge_one(CHOICE, c="a")
    assert (part.score, part.misconception) == (0.0, "alpha")
    assert judge_one(CHOICE, c="c").reason == "Not right."
    assert "none of the choices: a, b, c" in judge_one(CHOICE, c="z").reason


@pytest.mark.parametrize(
    ("given", "score", "misconception"),
    [
        ("a, c, d", 4.0, None),
        ({"d", "c", "a"}, 4.0, None),
        (["a", "c"], 3.0, None),
        ("a", 2.0, None),
        ("abc", 2.0, "alpha"),
        ("b", 0.0, "alpha"),
        ("abcd", 0.0, "alpha"),
        ([], 0.0, None),
        ("z", 0.0, None),
    ],
)
def test_several_choices(given: Any, score: float, misconception: str | None) -> None:
    part = judge_one(CHOICES, c=given)
    assert (part.score, part.misconception) == (score, misconception)


def test_all_of_them_may_be_right() -> None:
    assert judge_one(key('expect.choices("c", "abc", among="abc")'), c="abc").score == 4.0
    assert judge_one(key('expect.choices("c", [], among="abc")'), c=[]).score == 4.0


ITEM = key('expect.item("q001")', "q001", 1.0, two_tier())


@pytest.mark.parametrize(
    ("claim", "because", "scores", "misconceptions"),
    [
        (False, "b", (0.5, 0.5), (None, None)),
        ("F", "B", (0.5, 0.5), (None, None)),
        (True, "b", (0.0, 0.0), (None, None)),
        (False, "a", (0.5, 0.0), (None, "alpha")),
        (True, "c", (0.0, 0.0), (None, "beta")),
        (False, "d", (0.5, 0.0), (None, None)),
        (False, ..., (0.5, 0.0), (None, None)),
        (..., "b", (0.0, 0.0), (None, None)),
        (0, 1, (0.0, 0.0), (None, None)),
    ],
)
def test_items(
    claim: Any, because: Any, scores: tuple[float, float], misconceptions: tuple[Any, Any]
) -> None:
    parts = judge(ITEM, q001__claim=claim, q001__because=because)
    assert tuple(p.score for p in parts) == scores
    assert tuple(p.misconception for p in parts) == misconceptions


def test_a_wrong_reason_is_refuted_in_its_own_words() -> None:
    _, part = judge(ITEM, q001__claim=False, q001__because="a")
    assert part.reason == "“Belief alpha”. Not so: first."
    _, part = judge(ITEM, q001__claim=True, q001__because="b")
    assert part.reason == "A reason counts only with the right claim."
    _, part = judge(ITEM, q001__claim=False, q001__because="b")
    assert part.reason == "Activations stay whole."


def test_an_item_answered_with_something_else_is_told() -> None:
    for part in judge(ITEM, q001=True):
        assert part.status is PartStatus.FAILED
        assert "answer(claim=" in part.reason
    assert [p.status for p in judge(ITEM, q001=...)] == [PartStatus.MISSING] * 2


# --- cells -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "status", [s for s in PartStatus if s not in (PartStatus.PASSED, PartStatus.PARTIAL)]
)
def test_a_failed_cell_gives_its_status_to_what_was_not_answered(status: PartStatus) -> None:
    (part,) = judge_cell(QUANTITY, None, seed=SEED, misconceptions={}, failure=CellFailure(status, "why"))
    assert (part.status, part.reason) == (status, "why")


def test_answers_that_came_stand_when_the_cell_fails_after() -> None:
    came = heard(QUANTITY, dp="112 GB")
    (part,) = judge_cell(
        QUANTITY,
        came,
        seed=SEED,
        misconceptions={},
        failure=CellFailure(PartStatus.CRASHED, "gone"),
        answer_hash="h",
    )
    assert (part.status, part.answer) == (PartStatus.PASSED, "h")


def test_nothing_was_heard() -> None:
    def status(said: Heard | None) -> PartStatus:
        return judge_cell(QUANTITY, said, seed=SEED, misconceptions={})[0].status

    assert status(None) is PartStatus.MISSING
    assert status(Heard(ended="closed")) is PartStatus.CRASHED
    assert status(Heard(ended="late")) is PartStatus.TIMEOUT
    assert status(Heard(ended="broken")) is PartStatus.BLOCKED


def test_an_error_of_our_own_blocks_and_costs_nobody_points() -> None:
    made = key("""
calls = []
def like(N):
    calls.append(N)
    if len(calls) > 100: raise RuntimeError("the key broke")
    return N
expect.function("f", like=like, given={"N": draw.integers(1, 9)})
expect.quantity("x", 3)
""")
    for _ in range(20):
        parts = judge(made, f=lambda N: N, x=3)
    assert [p.status for p in parts] == [PartStatus.BLOCKED, PartStatus.PASSED]
    assert parts[0].score is None
    assert "the key broke" in parts[0].evidence["error"]


anything = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers() | st.text(), max_size=3),
    st.sampled_from(["112 GB", "28 GB", "a", "abcd", ..., print, object, len, b"x", 1j, {}]),
)  # fmt: skip
EVERY = key("""
expect.quantity("dp", "112 GB", wrong={"28 GB": "alpha"})
expect.function("f", like=lambda N: N, given={"N": draw.integers(1, 9)}, draws=2)
expect.choice("c", "b", among="abc", wrong={"a": "alpha"})
expect.choices("d", {"a", "c"}, among="abcd")
expect.item("q001")
""", bank=two_tier())  # fmt: skip


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["dp", "f", "c", "d", "q001", "q001__claim", "q001__because"]), anything)
)
def test_the_judge_judges_anything(answers: dict[str, Any]) -> None:
    parts = judge(EVERY, **answers)
    assert len(parts) == 6
    for part in parts:
        assert part.status is not PartStatus.BLOCKED
        assert len(part.reason) < 1000


@pytest.mark.parametrize("given", ["1 GB", 5, "x", None, [1], "28 GB", True])
def test_reasons_do_not_hold_what_is_expected_and_judging_is_fast(given: Any) -> None:
    started = time.process_time()
    for part in judge(EVERY, dp=given, f=lambda N: given, c="z", d="b", q001__claim=True, q001__because="d"):
        assert "112" not in part.reason
    assert time.process_time() - started < 0.5
