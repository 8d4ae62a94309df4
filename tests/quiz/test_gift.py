"""GIFT comes back from gift-pegjs, Moodle's grammar in JavaScript, question by question as it went in."""

from __future__ import annotations

import json
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from autograder.quiz.export import gift
from autograder.quiz.export.flat import Flat, answer_html, inline
from quiz.nasty import flats, named

PARSE = Path(__file__).with_name("gift_parse.mjs")
KINDS = {"TF": "truefalse", "MC": "choice", "Numerical": "number", "Matching": "matching", "Essay": "essay"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gift")


def _parsed(text: bytes, folder: Path, npm: Path) -> list[Any]:
    path = folder / "bank.gift"
    path.write_bytes(text)
    ran = subprocess.run(["node", PARSE, path, npm], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stderr[-2000:]
    category, *found = json.loads(ran.stdout)
    assert category["type"] == "Category"
    return list(found)


def _plain(text: str) -> str:
    return " ".join(text.split())


def _text(node: Any) -> str:
    return _plain(node["text"]).replace("&#37;", "%").replace("&#91;", "[") if node else ""


def _same(flat: Flat, node: Any) -> None:
    assert KINDS[node["type"]] == flat.kind
    assert (node["id"], node["title"]) == (flat.id, flat.id)
    assert node["tags"] == [flat.item, *flat.tags]
    assert node["stem"]["format"] == "html"
    assert _text(node["stem"]) == _plain(flat.html("tex"))
    assert _text(node["globalFeedback"]) == _plain(inline(flat.feedback, "tex"))
    match flat.kind:
        case "truefalse":
            assert node["isTrue"] == (flat.answers[flat.right].text == "True")
        case "choice":
            assert len(node["choices"]) == len(flat.answers)
            for answer, choice in zip(flat.answers, node["choices"], strict=True):
                assert choice["isCorrect"] == answer.right and choice["weight"] is None
                assert _text(choice["text"]) == _plain(answer_html(answer, "tex"))
                assert _text(choice["feedback"]) == _plain(inline(answer.feedback, "tex"))
        case "number":
            _number(flat, node["choices"])
        case "matching":
            pairs = [(_text(p["subquestion"]), p["subanswer"]) for p in node["matchPairs"]]
            assert pairs == [(_plain(inline(step, "tex")), place) for step, place in flat.pairs]


def _number(flat: Flat, choices: list[Any]) -> None:
    right, *wrong = choices if isinstance(choices, list) else [choices]
    assert Fraction(str(right["text"]["number"])) == pytest.approx(flat.value, rel=1e-9)
    assert Fraction(str(right["text"]["range"])) == pytest.approx(flat.tolerance, rel=1e-6)
    assert len(wrong) == len(flat.wrong)
    for value, choice in zip(flat.wrong, wrong, strict=True):
        assert choice["weight"] == 0
        assert Fraction(str(choice["text"]["number"])) == pytest.approx(value.amount, rel=1e-9)
        assert _text(choice["feedback"]) == _plain(inline(value.feedback, "tex"))


def test_the_whole_bank_comes_back(questions: list[Flat], folder: Path, gift_pegjs: Path) -> None:
    found = _parsed(gift.export(questions, "FSDP"), folder, gift_pegjs)
    assert len(found) == len(questions)
    for flat, node in zip(questions, found, strict=True):
        _same(flat, node)


@settings(
    max_examples=15,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(made=st.lists(flats(), min_size=1, max_size=12))
def test_nasty_texts_come_back(made: list[Flat], folder: Path, gift_pegjs: Path) -> None:
    asked = named(made)
    found = _parsed(gift.export(asked, "nasty {title} #1"), folder, gift_pegjs)
    assert len(found) == len(asked)
    for flat, node in zip(asked, found, strict=True):
        _same(flat, node)


def test_no_blank_line_stands_in_a_question(questions: list[Flat]) -> None:
    text = gift.export(questions, "FSDP").decode()
    blocks = [block for block in text.split("\n\n") if block.strip()]
    assert len(blocks) == len(questions) + 1


def test_a_backslash_is_escaped_first() -> None:
    assert gift.escape(r"\nabla = {x}") == r"\\nabla \= \{x\}"
    assert gift.escape(r"1+1\=2") == r"1+1\\\=2"


def test_the_same_bank_gives_the_same_bytes(questions: list[Flat]) -> None:
    assert gift.export(questions, "FSDP") == gift.export(list(questions), "FSDP")
