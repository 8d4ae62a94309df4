"""The practice page in a real browser, by keyboard alone, without a network; and what its text must hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.content import Course
from autograder.quiz import page
from quiz.conftest import SHOTS


@pytest.fixture(scope="module")
def written(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "practice.html"
    assert page.write(course, path) == len(course.items)
    return path


@pytest.fixture
def tab(browser: Any, written: Path) -> Iterator[Any]:
    context = browser.new_context(offline=True, viewport={"width": 900, "height": 1000})
    made = context.new_page()
    problems: list[str] = []
    made.on("pageerror", lambda error: problems.append(str(error)))
    made.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    made.on("request", lambda request: problems.append(request.url) if "file:" not in request.url else None)
    made.goto(written.as_uri())
    yield made
    assert problems == []
    context.close()


def _data(written: Path) -> list[dict[str, Any]]:
    text = written.read_text()
    found = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)
    assert found
    return list(json.loads(found[1])["questions"])


def _shot(tab: Any, name: str) -> None:
    if SHOTS:
        tab.screenshot(path=f"{SHOTS}/{name}.png", full_page=True)


def _now(tab: Any, written: Path) -> dict[str, Any]:
    """The question on screen, out of the page's data."""
    heading = tab.inner_text("#heading")
    statement = tab.inner_html("#statement") if tab.query_selector("#statement") else ""
    found = [q for q in _data(written) if heading.endswith(q["item"])]
    by_text = tab.evaluate(
        "texts => { const d = document.createElement('div'); return texts.map(t => { d.innerHTML = t; "
        "return d.innerHTML; }); }",
        [q["text"] for q in found],
    )
    return found[by_text.index(statement)]


def _right_keys(question: dict[str, Any]) -> list[str]:
    keys = []
    for name in ("first", "choices"):
        keys += [choice["letter"].lower() for choice in question[name] if choice["right"]]
    return keys


def test_the_page_needs_nothing_else(written: Path) -> None:
    text = written.read_text()
    outside = re.sub(r"http://www\.w3\.org/\S+?MathML", "", text)
    assert not re.findall(r"https?://", outside)
    assert not re.findall(r"<(?:link|img|iframe)\b|@import|url\(|\bsrc=", text)
    assert "<math" in text.replace("\\u003c", "<")


def test_no_text_ends_the_script(course: Course) -> None:
    text, _ = page.page(course)
    data = text[text.index('id="data">') :]
    assert data.index("</script>") == re.search(r"</", data).start()  # type: ignore[union-attr]


def test_right_answers_by_keyboard_alone(tab: Any, written: Path) -> None:
    _shot(tab, "page-first")
    for number in range(4):
        question = _now(tab, written)
        for key in _right_keys(question):
            tab.keyboard.press(key)
        tab.keyboard.press("Enter")
        said = tab.inner_text("#said")
        assert "Not right" not in said and "Right." in said and "Why:" in said, question["id"]
        assert tab.evaluate("document.activeElement.id") == "go"
        if number == 1:
            _shot(tab, "page-right")
        tab.keyboard.press("Enter")
        assert tab.evaluate("document.activeElement.id") == "question"
        assert tab.inner_text("#progress").startswith(f"{number + 1} answered, {number + 1} right")


def test_what_is_missed_is_refuted_and_comes_back(tab: Any, written: Path) -> None:
    first = _now(tab, written)
    wrong = [
        next(c["letter"].lower() for c in first[name] if not c["right"]) for name in ("first", "choices")
    ]
    for key in wrong:
        tab.keyboard.press(key)
    tab.keyboard.press("Enter")
    assert tab.inner_text("#said").count("Not right") == 2 and "“" in tab.inner_text("#said")
    _shot(tab, "page-wrong")
    seen = []
    for _ in range(4):
        tab.keyboard.press("Enter")
        question = _now(tab, written)
        seen.append(question["item"])
        for key in _right_keys(question):
            tab.keyboard.press(key)
        tab.keyboard.press("Enter")
    assert seen[3] == first["item"] and first["item"] not in seen[:3]
    tab.reload()  # remembered: it is not new, and due tomorrow
    assert _now(tab, written)["item"] not in {first["item"], *seen}


def test_an_unanswered_question_is_told_and_focused(tab: Any) -> None:
    tab.keyboard.press("Tab")
    tab.locator("#question").focus()
    tab.keyboard.press("Enter")
    assert "Not answered yet" in tab.inner_text("#said")
    assert tab.evaluate("document.activeElement.type") == "radio"


def _choose(tab: Any, form: str, written: Path) -> dict[str, Any]:
    """Skips, with the s key, to a question of a form."""
    for _ in range(200):
        question = _now(tab, written)
        if question["form"] == form:
            return question
        tab.locator("#question").focus()
        tab.keyboard.press("s")
    raise AssertionError(f"no {form} came")


def test_a_number_by_keyboard(tab: Any, written: Path) -> None:
    question = _choose(tab, "numeric", written)
    tab.locator("#value").focus()
    tab.keyboard.type("nonsense")
    tab.keyboard.press("Enter")
    assert "cannot be read" in tab.inner_text("#said")
    tab.locator("#value").fill("")
    wrong = question["wrong"][0]
    tab.keyboard.type(f"{wrong['value']:.6g}")
    tab.keyboard.press("Enter")
    said = tab.inner_text("#said")
    assert wrong["name"] in said and question["shown"] in said
    _shot(tab, "page-number")


def test_a_number_in_another_unit_is_right(tab: Any, written: Path) -> None:
    question = _choose(tab, "numeric", written)
    while question["unit"] != "GB":
        tab.locator("#question").focus()
        tab.keyboard.press("s")
        question = _choose(tab, "numeric", written)
    tab.locator("#value").focus()
    tab.keyboard.type(f"{question['value'] * 1000:.6g} MB")
    tab.keyboard.press("Enter")
    assert "✓ Right." in tab.inner_text("#said")


def test_an_order_by_keyboard(tab: Any, written: Path) -> None:
    question = _choose(tab, "ordering", written)
    wanted = question["order"]
    for place, letter in enumerate(wanted):
        row = tab.locator(f'#steps li[data-letter="{letter}"]')
        row.focus()
        while (
            tab.evaluate("[...document.activeElement.parentNode.children].indexOf(document.activeElement)")
            > place
        ):
            tab.keyboard.press("Alt+ArrowUp")
    tab.locator("#go").focus()
    tab.keyboard.press("Enter")
    assert "✓ Right." in tab.inner_text("#said")
    _shot(tab, "page-order")


def test_code_is_shown_as_code(tab: Any, written: Path) -> None:
    while not (question := _choose(tab, "spot-the-error", written)).get("code"):
        tab.locator("#question").focus()
        tab.keyboard.press("s")
    shown = tab.locator("#first label code").all_inner_texts()
    assert shown == [choice["plain"] for choice in question["first"]]
    _shot(tab, "page-code")


def test_maths_is_rendered(tab: Any) -> None:
    tab.locator("#topic").focus()
    tab.select_option("#topic", "fsdp-in-use")
    assert tab.evaluate("document.querySelectorAll('math').length + 1") >= 1
    boxes = tab.evaluate(
        "(() => { const d = document.createElement('div'); d.innerHTML = "
        "JSON.parse(document.getElementById('data').textContent).questions.map(q => q.why).join(''); "
        "document.body.append(d); const w = [...d.querySelectorAll('mfrac, msup, msub, math')]"
        ".map(m => m.getBoundingClientRect()); d.remove(); return w.map(b => b.width * b.height); })()"
    )
    assert len(boxes) > 50 and all(area > 0 for area in boxes)


def test_it_names_what_screen_readers_need(tab: Any) -> None:
    assert tab.get_attribute("#said", "aria-live") == "polite"
    assert tab.get_attribute("html", "lang") == "en"
    unnamed = tab.evaluate(
        "[...document.querySelectorAll('input, select, textarea, button')].filter(e => !(e.labels && e.labels.length)"
        " && !e.getAttribute('aria-label') && !e.textContent.trim()).length"
    )
    assert unnamed == 0
    assert tab.locator("fieldset legend").count() == tab.locator("fieldset").count() > 0
