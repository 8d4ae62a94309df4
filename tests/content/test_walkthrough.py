"""The walkthrough: its exercises, its self-check, and pictures that say what the budget model says."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode
from prose import ROOT
from test_keys import SEEDS, Answers, _wrong_answers, judge, run, submitted

from autograder.build import quiz, source
from autograder.content import Course
from autograder.judge import budget
from autograder.judge.budget import FP32, MIXED, Method, activations
from autograder.judge.key import Key, load_key
from autograder.judge.quantity import QuantityPart
from autograder.judge.region import exercise_of, split
from autograder.learner import overlap, wire
from autograder.learner.client import _flat
from autograder.learner.walkthrough import Model, degenerate, explore, moment, sliders, state
from autograder.learner.walkthrough import model as taught
from autograder.learner.walkthrough.picture import COLOUR, Picture
from autograder.verdict import PartStatus

__all__ = ["submitted"]  # the fixture

PATH = ROOT / "solutions/notebooks/walkthrough.py"
ITEMS = ("q031", "q001", "q028", "q005", "q051", "q038", "q036", "q003")
OKABE_ITO = {"#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"}
DRAW: dict[str, Callable[..., Picture]] = {
    "strip": state.strip,
    "column": state.column,
    "replicas": state.replicas,
    "shards": state.shards,
    "columns": state.columns,
    "against_ranks": state.against_ranks,
    "bubble": moment.bubble,
    "apart": degenerate.apart,
    "cases": degenerate.cases,
    "summary": degenerate.summary,
}

models = st.builds(
    lambda P, share, **more: Model(P=P, largest=max(1, P // share), **more),
    P=st.integers(1, 10**13),
    share=st.integers(1, 1000),
    N=st.integers(1, 5000),
    dtype=st.sampled_from(sorted(taught.WIDTH)),
    batch=st.integers(1, 64),
    sequence=st.integers(1, 10**5),
    hidden=st.integers(1, 10**5),
    layers=st.integers(1, 200),
)


@pytest.fixture(scope="module")
def notebook(course: Course) -> NotebookNode:
    return source.read(PATH, lambda ident, points: quiz.question(course.items, ident, points))


@pytest.fixture(scope="module")
def keys(course: Course, notebook: NotebookNode) -> dict[str, Key]:
    found = {}
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade"):
            exercise = exercise_of(cell.source)
            assert exercise
            found[exercise] = load_key(
                exercise, cell.metadata["nbgrader"]["points"], split(cell.source)[1], course, PATH.name
            )
    return found


def test_it_asks_three_exercises_and_the_self_check(keys: dict[str, Key]) -> None:
    assert list(keys) == ["w.2", "w.5", "w.6", *ITEMS]
    assert sum(key.points for key in keys.values()) == 3 + 4 + 4 + len(ITEMS)


def test_solutions_get_full_marks(
    notebook: NotebookNode, keys: dict[str, Key], course: Course, submitted: Answers
) -> None:
    run(notebook, solved=True)
    assert submitted.keys() == keys.keys()
    for exercise, key in keys.items():
        for seed in SEEDS:
            for name, part in judge(key, _flat(submitted[exercise]), course, seed).items():
                assert part.status is PartStatus.PASSED, f"{exercise}/{name}: {part.reason}"


def test_untouched_it_runs_to_the_end_with_every_picture(
    notebook: NotebookNode,
    keys: dict[str, Key],
    course: Course,
    submitted: Answers,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(notebook, solved=False)
    assert submitted.keys() == keys.keys()
    for exercise, key in keys.items():
        for part in judge(key, _flat(submitted[exercise]), course, b"seed").values():
            assert part.status is PartStatus.MISSING
    said = capsys.readouterr().out.strip().splitlines()
    assert len(said) == len(DRAW), "outside a notebook a picture is its text"
    assert any("Line drawn: sharded: 16P/N" in text for text in said), "the taught formula stands in"


def test_the_learners_formula_draws_the_curve() -> None:
    mine = state.against_ranks(Model(), formula=lambda P, N: 3 * P / N)
    assert "Line drawn: your persistent(P, N)" in mine.alt and "2.62 GB for your N = 8" in mine.alt
    with pytest.raises(ZeroDivisionError):  # a learner's error is shown, not swallowed
        state.against_ranks(Model(), formula=lambda P, N: P / 0)


def test_every_named_wrong_answer_is_told(keys: dict[str, Key], course: Course) -> None:
    tried = 0
    for exercise in ("w.2", "w.5", "w.6"):
        key = keys[exercise]
        for part in key.parts:
            if isinstance(part, QuantityPart):
                assert len({value for value, _ in part.wrong}) >= 3, part.id
            for ident, answer in _wrong_answers(part):
                for seed in SEEDS:
                    got = judge(key, {part.name: answer}, course, seed)[part.name]
                    assert got.misconception == ident, f"{part.id}: {got.reason}"
                tried += 1
    assert tried > 20


def test_every_picture_is_drawn_once_and_told_in_words(notebook: NotebookNode) -> None:
    drawn = []
    for cell, after in zip(notebook.cells, notebook.cells[1:], strict=False):
        if match := re.match(r"explore\(\s*\w+\.(\w+),\s*mine\b", cell.source):
            drawn.append(match[1])
            assert after.source.startswith("*Picture: "), match[1]
    assert sorted(drawn) == sorted(DRAW)


def test_all_seven_steps_the_summary_and_the_self_check_are_there(notebook: NotebookNode) -> None:
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    assert re.findall(r"^## Step (\d) · ", text, re.MULTILINE) == list("1234567")
    for title in ("All of it in one picture", "Self-check"):
        assert f"## {title}" in text


# --- the formulas taught openly are those of the budget model ---------------------------------------------------------


@given(models)
def test_memory_is_what_the_budget_model_says(model: Model) -> None:
    for regime in (FP32, MIXED):
        assert taught.replica(model.P) == budget.state(Method.DP, model.P, model.N, regime).total
        exact = budget.state(Method.ZERO3, model.P, model.N, regime).total
        assert taught.persistent(model.P, model.N) == pytest.approx(float(exact))
    assert sum(model.column.values()) == 16
    regime = FP32 if model.dtype == "fp32" else MIXED
    assert model.width == regime.compute == model.column["parameter"] == model.column["gradient"]


@given(models)
def test_activations_are_what_the_budget_model_says(model: Model) -> None:
    shape = budget.Shape(model.sequence, model.batch, model.hidden, 1, model.layers)
    assert taught.activations(model) == activations.kept(shape, "scores")
    assert taught.activations(model, True) == activations.peak(shape, "full", store_scores=False)


@given(st.integers(1, 10**6), st.integers(1, 500))
def test_pieces_are_a_flat_shard_without_its_padding(P: int, N: int) -> None:
    each, padding = budget.flat_shard(P, N)
    cut = taught.pieces(P, N)
    assert len(cut) == N and max(cut) == each and sum(cut) == P == each * N - padding


@pytest.mark.parametrize(("prefetch", "units"), [(True, 3), (False, 2)])
def test_on_a_fast_link_the_bubble_reaches_what_the_budget_model_says(prefetch: bool, units: int) -> None:
    over = moment.spans(0.5, prefetch)
    peak = max(at.total for at in moment.held(over))
    assert budget.transient([1] * moment.UNITS, 1, prefetch=prefetch).total == units
    assert peak == pytest.approx(units, abs=0.02)
    assert f"{peak:.2g} units" in moment.bubble(Model(), 0.5, prefetch).alt


@given(st.floats(0.01, 5), st.booleans())
@settings(max_examples=25, deadline=None)
def test_what_is_held_is_never_below_none_and_ends_at_none(link: float, prefetch: bool) -> None:
    found = moment.held(moment.spans(link, prefetch), steps=300)
    assert all(at.parameters >= 0 and at.gradients >= 0 for at in found) and found[-1].total == 0
    assert max(at.parameters for at in found) <= (2 if prefetch else 1)


def test_prefetching_hides_what_fits_and_costs_a_block() -> None:
    ends = {on: max(span.end for span in moment.spans(0.5, on)) for on in (True, False)}
    assert ends[True] == 15 + 3 * 0.5  # only the first two gathers and the last reduction show
    assert ends[False] == 15 + 15 * 0.5  # all fifteen collectives do
    assert overlap.timeline([], [], []) == []


# --- pictures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DRAW)
@pytest.mark.parametrize(
    "model",
    [
        Model(P=1, N=1, dtype="fp32", largest=1, batch=1, sequence=1, hidden=1, layers=1, memory=0.001),
        Model(P=10**13, N=5000, largest=10**12, batch=64, sequence=10**5, hidden=10**5, layers=200),
        Model(P=10, N=7, dtype="fp16", largest=10),
    ],
    ids=["smallest", "largest", "padded"],
)
def test_any_model_can_be_drawn(name: str, model: Model) -> None:
    shown = DRAW[name](model)
    assert shown.png.startswith(b"\x89PNG") and len(shown.png) > 3000
    assert 60 < len(shown.alt) < 900 and "\n" not in shown.alt and "nan" not in shown.alt
    data, meta = shown._repr_mimebundle_()
    assert data["text/plain"] == shown.alt == meta["image/png"]["alt"]


@pytest.mark.parametrize(
    ("name", "figures"),
    [
        ("strip", ["7 billion boxes", "14 GB"]),
        ("column", ["parameter 2, gradient 2, fp32 master 4, momentum 4, variance 4"]),
        ("replicas", ["112 GB", "above"]),
        ("shards", ["875 million of 7 billion"]),
        ("columns", ["14 GB", "112 GB"]),
        ("against_ranks", ["112 GB", "14 GB for your N = 8"]),
        ("bubble", ["420 MB", "1.26 GB"]),
        ("apart", ["36.5 GB"]),
        ("cases", ["20.8 GB", "36.5 GB"]),
        ("summary", ["112 GB", "14 GB", "1.26 GB", "36.5 GB"]),
    ],
)
def test_the_words_of_a_picture_hold_its_figures(name: str, figures: list[str]) -> None:
    alt = DRAW[name](Model()).alt
    assert [figure for figure in figures if figure not in alt] == []


def test_colours_stay_apart_for_every_kind_of_colour_vision() -> None:
    assert {*COLOUR.values(), *state.RANK_COLOURS[:7]} <= OKABE_ITO
    assert len(set(state.RANK_COLOURS)) == len(state.RANK_COLOURS)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"dtype": "float32"}, "one of fp32, bf16, fp16"),
        ({"N": 0}, "N is 0; it is a number above 0"),
        ({"N": 2.5}, "whole number"),
        ({"P": "7B"}, "P is '7B'"),
        ({"P": 100, "largest": 101}, "no unit has more parameters than the model"),
        ({"batch": True}, "batch is True"),
        ({"memory": float("inf")}, "memory is inf"),
    ],
)
def test_a_model_that_cannot_be_says_why(values: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        Model(**values)


def test_a_moved_model_keeps_its_unit_inside() -> None:
    model = Model(P=10**9, largest=10**8).moved(P=10**7)
    assert (model.P, model.largest) == (10**7, 10**7)
    assert Model(P=10**6, largest=10).moved(largest=10**9).largest == 10**6
    assert Model(P=7e9).P == 7 * 10**9  # type: ignore[arg-type]


def test_sliders_start_where_the_learner_is_and_reach_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    widgets = pytest.importorskip("ipywidgets")
    made = sliders._controls(
        widgets, Model(N=12), ("P", "N", "dtype", "link", "prefetch"), {"link": 0.3, "prefetch": False}
    )
    values = {name: control.value for name, control in made.items()}
    assert values == {"P": 7 * 10**9, "N": 12, "dtype": "bf16", "link": 0.3, "prefetch": False}
    assert 12 in [value for _, value in made["N"].options]
    for control in made.values():
        control.close()


def test_graded_or_outside_a_notebook_a_picture_comes_alone(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(wire.VARIABLE, "77")
    explore(moment.bubble, Model(), "link", "prefetch", link=2.0, prefetch=False)
    assert "without prefetching" in capsys.readouterr().out
