"""Lint of the bank: what makes items fair, and what every misconception needs."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from nbformat import NotebookNode
from prose import table

from autograder.judge.key import Key

GIVEAWAYS = re.compile(r"\b(always|never|only|all|every|none|any)\b(?!-)", re.IGNORECASE)


def _rows(name: str, of: str) -> list[dict[str, Any]]:
    rows = table(name)[of]
    assert isinstance(rows, list) and rows
    return rows


def test_ids_are_unique_and_in_order(bank: Any) -> None:
    assert [item["id"] for item in _rows("sharding-basics", "item")] == [f"q{n:03}" for n in range(1, 11)]
    names = [row["id"] for row in _rows("misconceptions", "misconception")]
    assert len(set(names)) == len(names) == len(bank.misconceptions)
    texts = [row["refutation"] for row in _rows("misconceptions", "misconception")]
    beliefs = [row["name"] for row in _rows("misconceptions", "misconception")]
    assert len(set(texts)) == len(texts) and len(set(beliefs)) == len(beliefs)


def test_half_of_the_claims_are_true(bank: Any) -> None:
    true = sum(item.key for item in bank.items.values())
    assert 0.45 <= true / len(bank.items) <= 0.55


def test_reasons_are_complete_and_different(bank: Any) -> None:
    for item in bank.items.values():
        assert sum(reason.right for reason in item.reasons) == 1, item.id
        assert 2 <= sum(not reason.right for reason in item.reasons) <= 3, item.id
        assert len({reason.text.casefold() for reason in item.reasons}) == len(item.reasons)
        for reason in item.reasons:
            if reason.right:
                assert reason.misconception is None and not reason.refutation, item.id
            else:
                assert reason.misconception in bank.misconceptions, f"{item.id}: {reason.misconception}"
                assert reason.refutation.strip(), f"{item.id}: {reason.text}"
        named = [reason.misconception for reason in item.reasons if reason.misconception]
        assert len(set(named)) == len(named), f"{item.id}: two reasons for one misconception"


def test_neither_place_nor_length_tells_the_right_reason(bank: Any) -> None:
    places: Counter[int] = Counter()
    longest = shortest = 0
    for item in bank.items.values():
        lengths = [len(reason.text) for reason in item.reasons]
        (right,) = [index for index, reason in enumerate(item.reasons) if reason.right]
        places[right] += 1
        longest += lengths[right] == max(lengths) and lengths.count(max(lengths)) == 1
        shortest += lengths[right] == min(lengths) and lengths.count(min(lengths)) == 1
    assert len(places) >= 3 and max(places.values()) <= 4
    chance = sum(1 / len(item.reasons) for item in bank.items.values())
    assert longest <= chance and shortest <= chance


def test_claims_have_no_words_that_give_them_away(bank: Any) -> None:
    for item in bank.items.values():
        claim = item.statement.replace(
            "summed over all GPUs", ""
        )  # a quantity's name, in a true and a false claim
        assert not GIVEAWAYS.search(claim), f"{item.id}: {claim}"
        assert "not" not in claim.split() or claim.split().count("not") == 1, f"{item.id}: two negations"


def test_items_say_regime_source_and_what_they_are_about(bank: Any) -> None:
    for item in bank.items.values():
        assert item.form == "two-tier" and item.use == "practice" and item.version >= 1
        assert item.regime and item.source and item.tags and 1 <= item.level <= 5
        assert item.misconceptions and set(item.misconceptions) <= bank.misconceptions.keys()
        shown = {reason.misconception for reason in item.reasons}
        assert shown & set(item.misconceptions), f"{item.id}: its misconception stands in no reason"
        assert item.explanation.count("$") % 2 == 0, f"{item.id}: unbalanced LaTeX"


def test_every_misconception_points_to_something_that_exists(bank: Any, keys: dict[str, Key]) -> None:
    for belief in bank.misconceptions.values():
        kind, _, name = belief.see.partition(" ")
        known = {
            "exercise": name in keys,
            "question": name in bank.items,
            "lab": name == "ring_collectives",
            "arXiv": bool(re.match(r"\d{4}\.\d{5}\b", name)),
        }
        assert known[kind], f"{belief.id}: see = {belief.see!r}"
        assert belief.name[0].isupper() and not belief.name.endswith("."), belief.id
        assert belief.refutation.endswith((".", ".)")) and len(belief.refutation) <= 260, belief.id


LATER = {
    "accumulation-cuts-traffic",
    "backward-costs-one-forward",
    "bits-for-bytes",
    "full-gradient-never-exists",
    "global-rank-for-group-rank",
    "layer-size-sets-the-ratio",
    "more-ranks-always-help",
    "one-collective-a-layer",
    "pipelining-shrinks-the-gather",
    "reduce-scatter-costs-more",
    "tensor-parallel-across-nodes",
    "weights-kept-after-forward",
}
"""Misconceptions of topics that later levels, labs and quizzes take up."""


def test_every_misconception_is_used_or_kept_for_later(bank: Any, notebooks: dict[str, NotebookNode]) -> None:
    sources = "\n".join(cell.source for notebook in notebooks.values() for cell in notebook.cells)
    used = {reason.misconception for item in bank.items.values() for reason in item.reasons}
    used |= {ident for ident in bank.misconceptions if f'"{ident}"' in sources}
    assert bank.misconceptions.keys() - used == LATER


def test_corrections_name_where_they_are_taught(bank: Any, keys: dict[str, Key]) -> None:
    rows = _rows("corrections", "correction")
    numbers = [row["row"] for row in rows]
    assert numbers == sorted(set(numbers)) and set(numbers) >= {1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 18, 22, 28}
    for row in rows:
        assert row.keys() == {"row", "says", "right", "source", "taught_by"}
        assert row["says"].strip() and row["right"].strip() and row["source"].strip()
        assert row["taught_by"] and set(row["taught_by"]) <= keys.keys() | bank.items.keys(), row["row"]
