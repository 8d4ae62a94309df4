"""jupyterquiz: the rules its script needs, and the questions shown and answered in a browser by that script."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.quiz.export import jupyterquiz
from autograder.quiz.export.flat import Flat
from quiz.conftest import SHOTS, needed
from quiz.nasty import flats, named


def _problems(question: Any) -> Iterator[str]:
    """What jupyterquiz's script needs, after its own schemas for multiple_choice and numeric."""
    where = question.get("id")
    if set(question) != {"id", "question", "type", "answers"} or not isinstance(question["question"], str):
        yield f"{where}: fields"
    answers = question["answers"]
    if question["type"] == "multiple_choice":
        if sum(answer["correct"] for answer in answers) != 1 or len(answers) < 2:
            yield f"{where}: one right answer"
        for answer in answers:
            if set(answer) not in ({"answer", "correct", "feedback"}, {"code", "correct", "feedback"}):
                yield f"{where}: fields of an answer"
            if not answer["feedback"]:
                yield f"{where}: an answer without feedback"
    elif question["type"] == "numeric":
        if answers[-1] != {"type": "default", "feedback": "Not right."}:
            yield f"{where}: something to say to the rest"
        for answer in answers[:-1]:
            if answer["type"] == "value" and not isinstance(answer["value"], int | float):
                yield f"{where}: a value is a number"
            if answer["type"] == "range" and not answer["range"][0] < answer["range"][1]:
                yield f"{where}: an empty range"
            if "feedback" not in answer:
                yield f"{where}: a range without feedback breaks the script"
    else:
        yield f"{where}: type {question['type']}"


def _bare_dollars(html: str) -> int:
    """Dollars of money that the page's maths could take for its own."""
    text = BeautifulSoup(html, "html.parser")
    for span in text.find_all("span"):
        span.decompose()
    return text.get_text().count("$")


def test_the_whole_bank_holds_the_rules(questions: list[Flat]) -> None:
    made = json.loads(jupyterquiz.export(questions, "FSDP"))
    assert [problem for question in made for problem in _problems(question)] == []
    held = [flat for flat in questions if not jupyterquiz.cannot(flat)]
    assert [question["id"] for question in made] == [flat.id for flat in held]
    left = {flat.kind for flat in questions if jupyterquiz.cannot(flat)}
    assert left == {"matching", "essay"}
    assert jupyterquiz.export(questions, "FSDP") == jupyterquiz.export(questions, "FSDP")


def test_keys_and_ranges_come_back(questions: list[Flat]) -> None:
    made = {question["id"]: question for question in json.loads(jupyterquiz.export(questions, "FSDP"))}
    for flat in questions:
        if flat.kind in ("truefalse", "choice"):
            right = [answer["correct"] for answer in made[flat.id]["answers"]]
            assert right == [answer.right for answer in flat.answers]
        if flat.kind == "number":
            value, *rest = made[flat.id]["answers"]
            assert value["correct"] and value["value"] == pytest.approx(float(flat.value))
            if flat.tolerance:
                low, high = rest[0]["range"]
                edges = (float(flat.value - flat.tolerance), float(flat.value + flat.tolerance))
                assert low == edges[0] and high > edges[1]  # half-open: the edge itself is right


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(made=st.lists(flats(), min_size=1, max_size=5))
def test_nasty_texts_hold_the_rules(made: list[Flat]) -> None:
    for question in json.loads(jupyterquiz.export(named(made), "x")):
        assert list(_problems(question)) == []
        texts = [question["question"], *(a.get("answer", "") for a in question["answers"])]
        assert all(_bare_dollars(text) % 2 == 0 for text in texts)


def _shown(questions: list[Flat], folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page as jupyterquiz itself makes it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from IPython.display import HTML
            from jupyterquiz import display_quiz
    except ImportError:
        needed("jupyterquiz", "pip install 'shardlab[quiztest]'")

    shown: list[str] = []

    def take(thing: Any) -> None:
        shown.append(thing.data if isinstance(thing, HTML) else f"<script>{thing.data}</script>")

    monkeypatch.setattr(sys.modules["jupyterquiz.dynamic.display"], "display", take)
    display_quiz(json.loads(jupyterquiz.export(questions, "FSDP")))
    path = folder / "quiz.html"
    path.write_text("<!DOCTYPE html><meta charset='utf-8'><body>" + "".join(shown), encoding="utf-8")
    return path


def test_it_is_shown_and_answered_in_a_browser(
    questions: list[Flat],
    browser: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kinds = {flat.kind: flat for flat in questions if not jupyterquiz.cannot(flat)}
    path = _shown(list(kinds.values()), tmp_path, monkeypatch)
    tab = browser.new_page(viewport={"width": 900, "height": 1400})
    problems: list[str] = []
    tab.on("pageerror", lambda error: problems.append(str(error)))
    tab.goto(path.as_uri())
    tab.wait_for_selector(".MCButton")
    assert problems == []
    labels = tab.locator(".MCButton").all_inner_texts()
    choice = kinds["choice"]
    assert len(labels) == len(choice.answers) + 2
    tab.locator(".MCButton[data-correct='true']").first.click()
    box = tab.locator("input:not([type=radio])").first
    box.fill(f"{float(kinds['number'].value):.9g}")
    box.press("Enter")
    tab.wait_for_timeout(300)
    assert tab.locator(".Feedback.correct").count() >= 2, tab.locator(".Feedback").all_inner_texts()
    if SHOTS:
        tab.screenshot(path=f"{SHOTS}/jupyterquiz.png", full_page=True)
    assert problems == []
    tab.close()
