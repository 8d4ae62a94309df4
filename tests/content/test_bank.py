"""The bank: how much there is of it, what every misconception needs, and that nothing of the source was left out."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pytest
from nbformat import NotebookNode
from prose import ROOT, table

from autograder.content import Course
from autograder.item import FORMS, TwoTier
from autograder.judge import budget
from autograder.judge.budget import FP32, FSDP2_MIXED, LLAMA3_8B, LLAMA_7B, MIXED, Method
from autograder.judge.key import Key
from autograder.quiz import lint
from autograder.quiz.figures import texts

IDEAS = [
    "activations-are-sharded",
    "everything-divides-by-n",
    "full-layer-never-exists",
    "fsdp-splits-the-matmul",
    "sharding-cuts-compute",
    "gradients-are-all-reduced",
    "gather-rebuilds-whole-model",
    "transient-is-one-layer",
    "sharding-cuts-traffic",
    "always-use-fsdp",
    "fsdp-replaces-checkpointing",
    "zero-stage-mixed-up",
    "zero3-is-not-fsdp",
    "optimizer-state-forgotten",
    "adam-state-is-16-bytes",
    "mixed-precision-halves-state",
    "optimizer-step-communicates",
    "weights-kept-after-forward",
    "accumulation-cuts-traffic",
    "shards-are-always-equal",
    "cluster-total-unchanged",
    "gib-for-gb",
    "bits-for-bytes",
    "one-collective-a-layer",
    "backward-costs-one-forward",
    "checkpointing-is-free",
    "sum-for-mean",
    "more-ranks-always-help",
    "pipelining-shrinks-the-gather",
    "rule-of-thumb-is-law",
    "tensor-parallel-across-nodes",
    "full-gradient-never-exists",
    "layer-size-sets-the-ratio",
    "global-rank-for-group-rank",
]
"""The wrong beliefs the course is about: the bank has to have items on all of them."""


def _rows(name: str, of: str) -> list[dict[str, Any]]:
    rows = table(name)[of]
    assert isinstance(rows, list) and rows
    return rows


def test_the_bank_is_fair(course: Course) -> None:
    assert [str(finding) for finding in lint.lint(course)] == []


def test_there_is_enough_of_every_form_and_level(course: Course) -> None:
    counts = lint.counts(course)
    assert sum(counts["form"].values()) == len(course.items) >= 120
    assert set(counts["form"]) == set(FORMS)
    assert set(counts["level"]) == {"1", "2", "3", "4", "5"} and min(counts["level"].values()) >= 10
    assert min(counts["topic"].values()) >= 10
    assert min(counts["form"][form] for form in FORMS if form != "essay") >= 7


def test_every_idea_has_three_items_and_both_keys(course: Course) -> None:
    """By a count of its own, so that the lint's cannot be the only one."""
    for ident in IDEAS:
        items = [item for item in course.items.values() if ident in item.named]
        assert len(items) >= 3, ident
        assert {item.key for item in items if isinstance(item, TwoTier)} == {True, False}, ident


def test_half_of_the_claims_are_true(course: Course) -> None:
    claims = [item for item in course.items.values() if isinstance(item, TwoTier)]
    assert 0.45 <= sum(item.key for item in claims) / len(claims) <= 0.55


def test_each_question_of_the_source_is_rebuilt(course: Course) -> None:
    sources = Counter(item.source.split(",")[0] for item in course.items.values())
    wanted = [f"true/false {n}" for n in range(1, 10)] + [f"spot the error {n}" for n in range(10, 17)]
    wanted += [f"why {n}" for n in range(17, 24)] + [f"edge {n}" for n in range(24, 30)]
    assert [source for source in wanted if not sources[source]] == []
    assert {item.id for item in course.items.values() if item.source.startswith("true/false 1,")} >= {
        "q001",
        "q002",
    }


def test_ids_are_unique_and_in_order(bank: Any) -> None:
    assert sorted(bank.items) == [f"q{n:03}" for n in range(1, len(bank.items) + 1)]
    names = [row["id"] for row in _rows("misconceptions", "misconception")]
    assert len(set(names)) == len(names) == len(bank.misconceptions)
    texts = [row["refutation"] for row in _rows("misconceptions", "misconception")]
    beliefs = [row["name"] for row in _rows("misconceptions", "misconception")]
    assert len(set(texts)) == len(texts) and len(set(beliefs)) == len(beliefs)


def test_this_repository_holds_no_graded_item(course: Course) -> None:
    assert {item.use for item in course.items.values()} == {"practice"}


PHRASES = [
    # figures without a unit: the item, the words as they stand, and whether they are right
    ("q001", "$16PN$ bytes in the cluster", budget.state(Method.DP, 10, 8, FP32).total * 8 == 16 * 10 * 8),
    ("q002", "$8 \\cdot 16P/8 = 16P$", budget.state(Method.ZERO3, 8, 8, FP32).total * 8 == 16 * 8),
    ("q007", "seven eighths of the array", budget.reduce_scatter(8, 8) == 7),
    ("q011", "split 2 + 2 + 12", (MIXED.param, MIXED.grad, MIXED.optimizer) == (2, 2, 12)),
    ("q012", "8 of the 16 bytes", (FP32.optimizer, FP32.total) == (8, 16)),
    ("q013", "three quarters belong to the optimizer", MIXED.optimizer * 4 == 3 * MIXED.total),
    ("q014", "take the place of 4 + 4 + 8", (FP32.param, FP32.grad, FP32.optimizer) == (4, 4, 8)),
    ("q031", "16 is the sum of all four numbers", FP32.total == 4 * 4),
    ("q038", "three blocks for equal blocks", budget.transient([5] * 9, 1).total == 15),
    ("q041", "13.1% of its parameters", round(100 * LLAMA3_8B.root / LLAMA3_8B.params, 1) == 13.1),
    ("q041", "a block of a 7B Llama has 3.0%", round(100 * LLAMA_7B.block / LLAMA_7B.params, 1) == 3.0),
    ("q050", "one eighth of the bytes", FSDP2_MIXED.compute * 8 == FSDP2_MIXED.total),
    ("q053", "two blocks take the place of three", budget.transient([1] * 3, 1, prefetch=False).total == 2),
    (
        "q088",
        "2 for data parallelism",
        budget.step_traffic(Method.DP, 4, 4, 4) == 2 * budget.all_gather(4, 4),
    ),
    ("q088", "$3m = 12$", budget.step_traffic(Method.ZERO3, 4, 4, 4) == 12 * budget.all_gather(4, 4)),
    ("q136", "2, 2, 1, 0", budget.chunk_rows(5, 4) == [2, 2, 1, 0]),
    ("q137", "3, 3, 3, 1", budget.chunk_rows(10, 4) == [3, 3, 3, 1]),
]


@pytest.mark.parametrize(("ident", "phrase", "holds"), PHRASES)
def test_figures_in_words(course: Course, ident: str, phrase: str, holds: bool) -> None:
    assert phrase in "\n".join(texts(course.items[ident])), ident
    assert holds


def test_every_misconception_points_to_something_that_exists(
    bank: Any, keys: dict[str, Key], steps: set[str]
) -> None:
    for belief in bank.misconceptions.values():
        kind, _, name = belief.see.partition(" ")
        known = {
            "exercise": name in keys,
            "walkthrough": name in steps,
            "question": name in bank.items,
            "lab": name == "ring_collectives",
            "arXiv": bool(re.match(r"\d{4}\.\d{5}\b", name)),
        }
        assert known[kind], f"{belief.id}: see = {belief.see!r}"
        assert belief.name[0].isupper() and not belief.name.endswith("."), belief.id
        assert belief.refutation.endswith((".", ".)")) and len(belief.refutation) <= 260, belief.id


def test_every_misconception_is_used(bank: Any, notebooks: dict[str, NotebookNode]) -> None:
    sources = "\n".join(cell.source for notebook in notebooks.values() for cell in notebook.cells)
    sources += (ROOT / "solutions/notebooks/walkthrough.py").read_text(encoding="utf-8")
    used = {ident for item in bank.items.values() for ident in item.named}
    used |= {ident for ident in bank.misconceptions if f'"{ident}"' in sources}
    assert bank.misconceptions.keys() - used == set()


def test_corrections_name_where_they_are_taught(bank: Any, keys: dict[str, Key], steps: set[str]) -> None:
    rows = _rows("corrections", "correction")
    numbers = [row["row"] for row in rows]
    assert numbers == sorted(set(numbers)) and set(numbers) >= {1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 18, 22, 28}
    for row in rows:
        assert row.keys() == {"row", "says", "right", "source", "taught_by"}
        assert row["says"].strip() and row["right"].strip() and row["source"].strip()
        assert row["taught_by"] and set(row["taught_by"]) <= keys.keys() | bank.items.keys() | steps, row[
            "row"
        ]
