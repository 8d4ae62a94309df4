"""The sources run from top to bottom as plain Python; their answers are right, and each named wrong one is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import matplotlib
import pytest
from nbformat import NotebookNode

import autograder
from autograder import stub
from autograder.judge import budget
from autograder.judge.budget import FP32, FSDP2_MIXED, MIXED
from autograder.judge.choice import ChoicePart, ChoicesPart
from autograder.judge.exercise import judge_cell
from autograder.judge.function import FunctionPart
from autograder.judge.heard import Heard, Result
from autograder.judge.key import Key
from autograder.judge.part import PartKey
from autograder.judge.quantity import QuantityPart
from autograder.judge.region import split
from autograder.learner.values import number, value_of
from autograder.verdict import Part, PartStatus

SEEDS = (b"one", b"two", b"three")
Answers = dict[str, dict[str, Any]]
Run = tuple[Answers, dict[str, Any]]


@pytest.fixture
def submitted(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    """What `submit` is called with while notebook cells run here, without pictures on a screen."""
    import matplotlib.pyplot as plt

    matplotlib.use("Agg")
    found: Answers = {}
    monkeypatch.setattr(
        autograder, "submit", lambda exercise, **answers: found.__setitem__(exercise, answers)
    )
    monkeypatch.setattr(plt, "show", lambda: None)
    yield found
    plt.close("all")


def run(notebook: NotebookNode, *, solved: bool) -> dict[str, Any]:
    scope: dict[str, Any] = {}
    for cell in notebook.cells:
        if cell.cell_type == "code":
            shown = split(cell.source)[0]
            exec(compile(shown if solved else stub.strip(shown), "cell", "exec"), scope)
    return scope


def judge(key: Key, answers: dict[str, Any], bank: Any, seed: bytes) -> dict[str, Part]:
    """The judge on plain answers; functions are called here as the kernel calls them."""
    heard = Heard(
        submitted=True,
        answers={name: value_of(answer) for name, answer in answers.items()},
        results={
            part.name: tuple(_call(answers[part.name], inputs) for inputs in part.inputs(seed))
            for part in key.parts
            if isinstance(part, FunctionPart) and callable(answers.get(part.name))
        },
        ended="done",
    )
    parts = judge_cell(key, heard, seed=seed, misconceptions=bank.misconceptions)
    return {part.id.partition("/")[2]: part for part in parts}


def _call(function: Any, inputs: dict[str, Any]) -> Result:
    try:
        return Result(value=value_of(function(**inputs)))
    except NotImplementedError as error:
        return Result(kind="NotImplementedError", text=str(error))


def test_solutions_get_full_marks(
    notebooks: dict[str, NotebookNode], keys: dict[str, Key], bank: Any, submitted: Answers
) -> None:
    for notebook in notebooks.values():
        run(notebook, solved=True)
    first, third = {"1.1", "1.2", "1.3", "2.1", "2.2", "2.3"}, {f"3.{number}" for number in range(1, 6)}
    assert submitted.keys() == keys.keys() >= first | third | {"5.1", "5.2", "5.3"}
    for exercise, key in keys.items():
        assert submitted[exercise].keys() == {part.name for part in key.parts}
        for seed in SEEDS:
            for name, part in judge(key, submitted[exercise], bank, seed).items():
                assert part.status is PartStatus.PASSED, f"{exercise}/{name}: {part.reason} {part.evidence}"


def test_untouched_notebooks_run_to_the_end_and_answer_nothing(
    notebooks: dict[str, NotebookNode],
    keys: dict[str, Key],
    bank: Any,
    submitted: Answers,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for notebook in notebooks.values():
        run(notebook, solved=False)
    assert submitted.keys() == keys.keys()
    for exercise, key in keys.items():
        for part in judge(key, submitted[exercise], bank, b"seed").values():
            assert part.status is PartStatus.MISSING
    assert (
        "Write memory(P, N, T)" in capsys.readouterr().out
    )  # the picture waits for its function, and says so


def test_every_known_wrong_answer_is_named_and_earns_less(keys: dict[str, Key], bank: Any) -> None:
    tried = 0
    for key in keys.values():
        for part in key.parts:
            for ident, answer in _wrong_answers(part):
                for seed in SEEDS:
                    got = judge(key, {part.name: answer}, bank, seed)[part.name]
                    assert got.status in (PartStatus.FAILED, PartStatus.PARTIAL), f"{part.id} {ident}"
                    assert got.misconception == ident, f"{part.id}: {got.reason}"
                tried += 1
    assert tried > 60


def _wrong_answers(part: PartKey) -> list[tuple[str, Any]]:
    match part:
        case QuantityPart():
            return [(ident, Fraction(value, part.asked.factor)) for value, ident in part.wrong]
        case FunctionPart():
            return list(part.wrong)
        case ChoicePart():
            return [(ident, option) for option, ident in part.wrong.items()]
        case ChoicesPart():
            return [(ident, [*part.right, option]) for option, ident in part.wrong.items()]
    raise AssertionError(f"{part.id}: a kind of answer this test does not know")


def test_every_quantity_has_three_named_wrong_answers(keys: dict[str, Key]) -> None:
    quantities = [part for key in keys.values() for part in key.parts if isinstance(part, QuantityPart)]
    assert len(quantities) >= 10
    for part in quantities:
        assert len({value for value, _ in part.wrong}) >= 3, part.id


def test_every_exercise_asks_for_a_value_and_for_a_function_with_one_rank(keys: dict[str, Key]) -> None:
    for key in keys.values():
        functions = [part for part in key.parts if isinstance(part, FunctionPart)]
        assert functions and len(functions) < len(key.parts), key.exercise
        assert all(part.edges and part.examples for part in functions), key.exercise
    ranks = [part for key in keys.values() for part in key.parts if isinstance(part, FunctionPart)]
    with_n = [part for part in ranks if isinstance(part.given, dict) and "N" in part.given]
    assert len(with_n) >= 6
    for part in with_n:
        assert any(edge["N"] == 1 for edge in part.edges), part.id


@pytest.mark.parametrize(
    ("exercise", "name", "right"),
    [
        # written out by hand, so that a slip in the budget model cannot hide in the key
        ("1.1", "on_one_gpu", "11 GB"),
        ("1.2", "kept", "200 MB"),
        ("1.2", "received_on_the_way", "1 GB"),
        ("2.1", "dp", "112 GB"),
        ("2.1", "fsdp", "14 GB"),
        ("2.1", "zero1", "38.5 GB"),
        ("2.2", "gathered", "420 MB"),
        ("2.2", "beyond_the_shard", "1.26 GB"),
        ("2.2", "at_peak", "15.26 GB"),
        ("2.3", "gpt3_on_64", "43.75 GB"),
        ("2.3", "gpt3_least", 40),
        ("3.1", "received", "612.5 MB"),
        ("3.2", "bandwidth", "1.25 GB/s"),
        ("3.2", "one_gather", "490 ms"),
        ("3.2", "communication", "1.47 s"),
        ("3.2", "sharded_ratio", 2.45),
        ("3.2", "replicated_ratio", 1.6333),
        ("3.3", "slow_step", "1650 ms"),
        ("3.3", "threshold", 0.7),
        ("3.4", "zero3_units", 12),
        ("3.4", "bytes_factor", 1),
        ("3.5", "replica", "20.8 GB"),
        ("3.5", "freed", "18.2 GB"),
        ("5.1", "hidden_state", "402.653 MB"),
        ("5.1", "all_inputs", "38.65 GB"),
        ("5.2", "backward", "600 ms"),
        ("5.2", "whole_step", "800 ms"),
        ("5.2", "whole_step", "798 ms"),
        ("5.2", "longer", "33.3 %"),
        ("5.3", "state", "2.73 GB"),
        ("5.3", "total", "34.23 GB"),
        ("5.3", "one_unit", "3.62 GB"),
        ("5.4", "one_block", "22.95 GB"),
        ("5.4", "all_blocks", "2203 GB"),
        ("5.4", "with_flash", "657 GB"),
        ("5.5", "kept_inputs", "38.65 GB"),
        ("5.5", "peak_stored", "61.6 GB"),
        ("5.5", "peak_flash", "45.5 GB"),
        ("5.5", "sequences", 3),
        ("5.6", "tensor_parallel", "4.63 GB"),
        ("5.6", "with_sequence", "2.87 GB"),
        ("5.7", "plan", "75.2 GB"),
        ("5.7", "most_sequences", 8),
    ],
)
def test_right_values_as_worked_out_by_hand(
    keys: dict[str, Key], bank: Any, exercise: str, name: str, right: str | int
) -> None:
    assert judge(keys[exercise], {name: right}, bank, b"seed")[name].status is PartStatus.PASSED


def test_values_in_other_units_are_the_same_answers(keys: dict[str, Key], bank: Any) -> None:
    for answer in ("112e9 B", "104.308 GiB", 112, "0.112 TB"):
        assert judge(keys["2.1"], {"dp": answer}, bank, b"seed")["dp"].status is PartStatus.PASSED, answer
    wrong = judge(keys["2.1"], {"dp": "104.308 GB"}, bank, b"seed")["dp"]
    assert wrong.misconception == "gib-for-gb"


def test_learners_functions_do_as_the_budget_model_does(
    notebooks: dict[str, NotebookNode], submitted: Answers
) -> None:
    first, second = run(notebooks["level-1"], solved=True), run(notebooks["level-2"], solved=True)
    for regime in (FP32, MIXED, FSDP2_MIXED):
        for stage in range(4):
            got = second["zero_state"](stage, 7_500_000_000, 64, regime.param, regime.grad, regime.optimizer)
            assert got == budget.state(budget.stage(stage), 7_500_000_000, 64, regime).total
    for rows in range(1, 12):
        for world in range(1, 9):
            assert first["shard_rows"](rows, world) == budget.chunk_rows(rows, world)
    grads = [[1, 2, 3, 4], [10, 20, 30, 40]]
    assert first["reduce_scatter"](grads) == [[11, 22], [33, 44]]
    assert first["all_gather"](first["mean_shards"](grads)) == [[5.5, 11, 16.5, 22]] * 2


def test_points_in_the_text_are_the_points_of_the_cell(notebooks: dict[str, NotebookNode]) -> None:
    checked = 0
    for notebook in notebooks.values():
        said: dict[str, int] = {}
        for cell in notebook.cells:
            text = " ".join(cell.source.split())
            if title := re.search(r"## Exercise (\d\.\d) · ", text):
                (points,) = re.findall(r"\*\((\d+) points\)\*", text)
                said[title[1]] = int(points)
            graded = cell.metadata.get("nbgrader", {})
            if graded.get("grade"):
                exercise = graded["grade_id"].partition("-")[2].replace("-", ".")
                assert said[exercise] == graded["points"]
                checked += 1
    assert checked >= 21


def test_numbers_survive_the_way_to_the_judge() -> None:
    assert value_of(Fraction(1, 3)) == number(Fraction(1, 3))
