"""Every form of item is judged as it says, and a learner's notebook says at once just what the judge will."""

from __future__ import annotations

import itertools
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.content import Course
from autograder.item import Item, Numeric, Ordering, Reason, SpotError, Step, Why, WrongValue
from autograder.judge.exercise import judge_cell
from autograder.judge.heard import Heard
from autograder.judge.instant import instant_record
from autograder.judge.key import Key, KeyProblem, load_key
from autograder.learner import check, draw
from autograder.learner.show import Line
from autograder.learner.values import value_of
from autograder.verdict import Part, PartStatus

BELIEFS = {
    name: SimpleNamespace(name=f"Belief {name}", refutation=f"Refuted {name}.", see="")
    for name in ("alpha", "beta", "gamma")
}
REASONS = (
    Reason(text="Because of `this`.", misconception="alpha", refutation="Not of this."),
    Reason(text="Because of **that**.", right=True),
    Reason(text="Because of neither.", misconception="beta", refutation="Of one of them."),
)
COMMON: dict[str, Any] = {
    "version": 1,
    "level": 1,
    "regime": "any",
    "statement": "What holds?",
    "explanation": "So it is.",
}
SPOT = SpotError(
    id="q1",
    **COMMON,
    step=(
        Step(text="One.", refutation="One is right."),
        Step(text="Two.", wrong=True),
        Step(text="Three.", refutation="Three is right.", misconception="gamma"),
    ),
    reason=REASONS,
)
WHY = Why(id="q2", **COMMON, reason=REASONS)
NUMERIC = Numeric(
    id="q3",
    **{**COMMON, "explanation": "Twice {{x}} is {{2 * x}}."},
    unit="GB",
    answer="2 * x",
    parameters={"x": (3, 50)},
    wrong=(
        WrongValue(formula="x", misconception="alpha", refutation="That is {{x}} once."),
        WrongValue(formula="3 * x", misconception="alpha", refutation="That is {{x}} thrice."),
    ),
)
ORDERING = Ordering(
    id="q4",
    **COMMON,
    step=(
        Step(text="First."),
        Step(text="Second.", refutation="The first comes first.", misconception="alpha"),
        Step(text="Third.", refutation="It needs the second."),
        Step(text="Last.", refutation="It comes last.", misconception="beta"),
    ),
    shown=(3, 1, 4, 2),  # a: third, b: first, c: last, d: second
)
ITEMS: dict[str, Item] = {item.id: item for item in (SPOT, WHY, NUMERIC, ORDERING)}


def _key(ident: str, region: str = "", *, learner: str = "", **changed: Any) -> Key:
    items = {name: msgspec.structs.replace(item, **changed) for name, item in ITEMS.items()}
    bank: Any = SimpleNamespace(items=items, misconceptions=BELIEFS)
    return load_key(ident, 1.0, region or f'expect.item("{ident}")', bank, learner=learner)


def _judge(made: Key, **answers: Any) -> tuple[Part, ...]:
    values = {f"{made.exercise}/{name}": value_of(answer) for name, answer in answers.items()}
    heard = Heard(submitted=True, answers=values, ended="done")
    return judge_cell(made, heard, seed=b"", misconceptions=BELIEFS)


def _said(made: Key, **answers: Any) -> tuple[Line, ...]:
    record = instant_record(made, b"salt", BELIEFS, 1)
    return check.check(made.exercise, record, {f"{made.exercise}/{n}": a for n, a in answers.items()})


def _agree(made: Key, **answers: Any) -> tuple[Part, ...]:
    parts = _judge(made, **answers)
    for part, line in zip(parts, _said(made, **answers), strict=True):
        assert (line.state == "right") == (part.status is PartStatus.PASSED), (part, line)
        assert (line.state == "missing") == (part.status is PartStatus.MISSING)
        if line.title:
            assert part.misconception and line.title == BELIEFS[part.misconception].name
    return parts


@pytest.mark.parametrize(
    ("step", "because", "scores", "beliefs"),
    [
        (2, "b", (0.5, 0.5), (None, None)),
        ("2", "Because of that", (0.5, 0.5), (None, None)),
        (2.0, "  because of THAT. ", (0.5, 0.5), (None, None)),
        (1, "b", (0, 0), (None, None)),
        (3, "a", (0, 0), ("gamma", "alpha")),
        (2, "c", (0.5, 0), (None, "beta")),
        (4, "b", (0, 0), (None, None)),
        ("two", "z", (0, 0), (None, None)),
        (2, ..., (0.5, 0), (None, None)),
        (..., "b", (0, 0), (None, None)),
    ],
)
def test_spot_the_error(step: Any, because: Any, scores: Any, beliefs: Any) -> None:
    parts = _agree(_key("q1"), step=step, because=because)
    assert tuple(part.score for part in parts) == scores
    assert tuple(part.misconception for part in parts) == beliefs


def test_a_right_step_taken_for_the_error_is_defended() -> None:
    parts = _judge(_key("q1"), step=3, because="b")
    assert parts[0].reason == "“Belief gamma”. Three is right."
    assert parts[1].reason == "A correction counts only with the right step."
    assert "none of the choices: 1, 2, 3" in _judge(_key("q1"), step=7, because="b")[0].reason


@pytest.mark.parametrize(
    ("because", "score", "belief"),
    [
        ("b", 1, None),
        ("A", 0, "alpha"),
        ("because of `this`", 0, "alpha"),
        ("Because of", 0, None),
        (3, 0, None),
    ],
)
def test_why(because: Any, score: float, belief: str | None) -> None:
    (part,) = _agree(_key("q2"), because=because)
    assert (part.score, part.misconception) == (score, belief)


@pytest.mark.parametrize(
    ("value", "score", "belief", "said"),
    [
        ("6 GB", 1, None, "Twice 3 is 6."),
        (6, 1, None, "Twice 3 is 6."),
        ("6000 MB", 1, None, "Twice 3 is 6."),
        ("6.05 GB", 1, None, "Twice 3 is 6."),
        ("6.2 GB", 0, None, "Not right."),
        ("3 GB", 0, "alpha", "“Belief alpha”. That is 3 once."),
        ("9 GB", 0, "alpha", "“Belief alpha”. That is 3 thrice."),
        ("six", 0, None, "does not start with a number"),
    ],
)
def test_numeric(value: Any, score: float, belief: str | None, said: str) -> None:
    (part,) = _agree(_key("q3"), value=value)
    assert (part.score, part.misconception) == (score, belief)
    assert said in part.reason


def test_numeric_with_another_set_of_numbers() -> None:
    made = _key("q3", 'expect.item("q3", face=1)')
    assert [p.score for p in _agree(made, value="100 GB")] == [1]
    assert [p.score for p in _agree(made, value="6 GB")] == [0]


@pytest.mark.parametrize(
    ("order", "score", "belief"),
    [
        ("b d a c", 1, None),
        ("bdac", 1, None),
        (["b", "d", "a", "c"], 1, None),
        ("b > d > a > c", 1, None),
        (["First.", "Second.", "Third.", "Last."], 1, None),
        ("d b a c", (5 - 1) / 6, "alpha"),
        ("b d c a", (5 - 1) / 6, "beta"),
        ("c a d b", 0, "beta"),
        ("b d a", 0, None),
        ("b b a c", 0, None),
        ("b d a z", 0, None),
        (4, 0, None),
    ],
)
def test_ordering(order: Any, score: float, belief: str | None) -> None:
    (part,) = _agree(_key("q4"), order=order)
    assert part.score == pytest.approx(score)
    assert part.misconception == belief


@given(st.permutations("abcd"))
def test_an_order_earns_by_its_pairs_and_each_wrong_one_is_refuted(order: list[str]) -> None:
    made = _key("q4")
    (part,) = _agree(made, order=order)
    place = {letter: number for number, letter in enumerate("bdac")}
    held = sum(place[x] < place[y] for x, y in itertools.combinations(order, 2))
    assert part.score == pytest.approx(max(0.0, (2 * held - 6) / 6))
    if held < 6:
        assert "comes too early" in part.reason and f"{held} of 6" in part.reason
        assert f"{held} of 6" in _said(made, order=order)[0].text


def test_shuffling_earns_nothing_on_average() -> None:
    place = {letter: number for number, letter in enumerate("bdac")}
    signed = [
        2 * sum(place[x] < place[y] for x, y in itertools.combinations(order, 2)) - 6
        for order in itertools.permutations("abcd")
    ]
    assert sum(signed) == 0


SURE = 'expect.item("q2", confidence=True)'


@pytest.mark.parametrize(
    ("because", "sure", "part"),
    [
        ("b", 100, 1.0),
        ("b", "80%", 1 - 0.04),
        ("b", 0, 0.0),
        ("a", 100, 0.0),
        ("a", 50, 0.75),
        ("a", "20", 0.96),
        ("b", 120, 0.0),
        ("b", "very", 0.0),
        ("b", True, 0.0),
    ],
)
def test_confidence_is_worth_a_tenth(because: str, sure: Any, part: float) -> None:
    parts = _judge(_key("q2", SURE), because=because, sure=sure)
    assert [p.max_score for p in parts] == pytest.approx([0.9, 0.1])
    assert parts[1].score == pytest.approx(0.1 * part)


def test_confidence_without_an_answer_is_missing() -> None:
    parts = _judge(_key("q2", SURE), because=..., sure=0)
    assert [p.status for p in parts] == [PartStatus.MISSING] * 2


@given(st.fractions(0, 1, max_denominator=20), st.fractions(0, 1, max_denominator=20))
def test_saying_what_one_believes_earns_most(belief: Fraction, said: Fraction) -> None:
    def expected(sure: Fraction) -> float:
        made = _key("q2", SURE)
        right, wrong = (_judge(made, because=b, sure=float(100 * sure))[1].score for b in ("b", "a"))
        return float(belief) * (right or 0) + float(1 - belief) * (wrong or 0)

    assert expected(belief) >= expected(said) - 1e-9


@pytest.mark.parametrize("ident", list(ITEMS))
def test_a_graded_item_says_recorded_and_whether_it_can_be_read(ident: str) -> None:
    use: Literal["graded"] = "graded"
    right: dict[str, dict[str, Any]] = {
        "q1": {"step": 2, "because": "b"},
        "q2": {"because": "b"},
        "q3": {"value": "6 GB"},
        "q4": {"order": "b d a c"},
    }
    wrong: dict[str, dict[str, Any]] = {
        "q1": {"step": 1, "because": "a"},
        "q2": {"because": "c"},
        "q3": {"value": "7 GB"},
        "q4": {"order": "a b c d"},
    }
    made = _key(ident, use=use)
    assert {line.state for line in _said(made, **right[ident])} == {"recorded"}
    assert _said(made, **right[ident]) == _said(made, **wrong[ident])
    unreadable = _said(made, **dict.fromkeys(right[ident], "what?"))
    assert {line.state for line in unreadable} == {"unreadable"}
    assert "table" not in str(instant_record(made, b"salt", BELIEFS, 1))


DRAWN = 'expect.drawn("q", where="quiz/q", among=[["q2#0"], ["q1#0"]])'


def test_a_slot_holds_the_item_of_the_learner() -> None:
    for learner in ("ada", "ben", "chloe", "dara", "eve"):
        made = _key("q", DRAWN, learner=learner)
        mine = draw.face(learner, "quiz/q", [["q2#0"], ["q1#0"]])
        assert [p.id for p in made.parts] == (["q/because"] if mine == "q2#0" else ["q/step", "q/because"])
        assert (
            _judge(made, because="b", step=2, learner=f" {learner.upper()} ")[-1].status is PartStatus.PASSED
        )
        assert made.digest == _key("q", DRAWN, learner=learner).digest
    assert len({draw.face(str(n), "quiz/q", [["q2#0"], ["q1#0"]]) for n in range(50)}) == 2


def test_answered_as_somebody_else_it_waits_for_a_person() -> None:
    made = _key("q", DRAWN, learner="ada")
    for given_name in ("ben", ..., 5):
        parts = _judge(made, because="b", step=2, learner=given_name)
        assert {part.status for part in parts} == {PartStatus.PENDING}
        assert all(part.score is None and "ada" in part.reason for part in parts)


def test_a_bad_item_is_told_with_its_place() -> None:
    with pytest.raises(KeyProblem, match="no item 'q9'"):
        _key("q", 'expect.item("q9")')
    with pytest.raises(KeyProblem, match="no item 'q9'"):
        _key("q", 'expect.drawn("q", where="x", among=[["q9#0"]])')


def test_what_is_no_answer_is_told_with_the_fields_of_the_form() -> None:
    heard = Heard(submitted=True, answers={"q4": value_of("b d a c")}, ended="done")
    (part,) = judge_cell(_key("q4"), heard, seed=b"", misconceptions=BELIEFS)
    assert "Write q4 = answer(order=...)" in part.reason


def test_every_item_of_the_bank_is_judged_right_and_refuted_wrong(course: Course) -> None:
    from autograder.build.quiz import right_answer
    from autograder.judge.item import item_parts
    from autograder.quiz import pose

    checked = 0
    for item in course.items.values():
        if item.form == "essay":
            continue
        for face in range(pose.faces(item)):
            posed = pose.pose(item, face)
            key = Key(item.id, 1.0, item_parts(item.id, item, face=face), "")
            scope: dict[str, Any] = {"__builtins__": {}, "True": True, "False": False}
            right = {name: eval(text, scope) for name, text in right_answer(posed).items()}
            assert {p.fraction for p in _fractions(key, right)} == {1}, posed.id
            for choice in posed.choices:
                if not choice.right:
                    last = _fractions(key, {**right, "because": choice.letter})[-1]
                    assert last.fraction == 0 and choice.feedback in last.reason, posed.id
            for value in posed.wrong:
                (only,) = _fractions(key, {"value": f"{pose.shown(value.amount)} {posed.unit}"})
                assert only.fraction == 0 and value.feedback in only.reason, posed.id
            checked += 1
    assert checked > 200


def _fractions(key: Key, answers: dict[str, Any]) -> list[Any]:
    from autograder.judge.part import Tell

    heard = Heard(True, {f"{key.exercise}/{n}": value_of(a) for n, a in answers.items()}, ended="done")
    return [part.judge(heard, b"", Tell({}, key.exercise)) for part in key.parts]
