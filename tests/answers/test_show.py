"""The report a learner sees: readable without colour, in both themes, and inert."""

from __future__ import annotations

import re
from html import unescape
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.learner import show
from autograder.learner.show import Line, Report, State

STATES = get_args(State)


@pytest.mark.parametrize("state", STATES)
def test_every_state_has_a_word_in_both_forms(state: State) -> None:
    report = Report("2.1", (Line("dp", state, "Why.", "Belief", "step 3"),), "a remark")
    text, page = repr(report), unescape(re.sub(r"<[^>]*>", "", report._repr_html_()))
    for words in ("2.1", "a remark", "dp", "Why.", "“Belief”", "See step 3."):
        assert words in text
        assert words in page


def test_states_differ_without_colour() -> None:
    plain = {re.sub("#[0-9a-f]{6}", "", Report("x", (Line("a", s),))._repr_html_()) for s in STATES}
    assert len(plain) == len(STATES)
    assert len({repr(Report("x", (Line("a", s),))) for s in STATES}) == len(STATES)


def test_text_and_ground_are_the_themes_own() -> None:
    page = Report("2.1", tuple(Line("a", s, "t") for s in STATES))._repr_html_()
    assert "background" not in page
    assert re.findall(r"(?<![-\w])color:([^;\"]+)", page) == ["var(--jp-ui-font-color0,inherit)"]


def test_only_wrong_missing_and_unreadable_are_bad() -> None:
    assert {s for s in STATES if Report("x", (Line("a", s),)).bad} == {"wrong", "missing", "unreadable"}


def test_what_two_lines_say_is_said_once_and_names_are_short() -> None:
    report = Report(
        "q001", (Line("q001/claim", "right", "Because."), Line("q001/because", "right", "Because."))
    )
    assert repr(report) == "q001\n  ✓ claim    right\n  ✓ because  right: Because."
    assert report._repr_html_().count("Because.") == 1


def test_code_and_sentences_look_as_such() -> None:
    page = Report("2.1", (Line("dp", "wrong", "write `x<1` so"), Line("fn", "holds", "on few")))._repr_html_()
    assert "Write <code>x&lt;1</code> so" in page and ": <span>on few</span>" in page


hostile = st.text(max_size=30) | st.sampled_from(
    ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</div></ul>", "&lt;", "' onmouseover='x"]
)


@given(hostile, hostile, hostile, hostile, hostile)
def test_texts_are_inert(exercise: str, name: str, text: str, title: str, see: str) -> None:
    page = Report(exercise, (Line(name, "wrong", text, title, see),), text)._repr_html_()
    tags = re.findall(r"<[^>]*>", page)
    known = re.findall(r"<[^>]*>", Report("a", (Line("b", "wrong", "c", "d", "e"),), "c")._repr_html_())
    if text and title and "`" not in text and show.pointer(see, exercise):
        assert tags == known
    assert all(re.match(r"</?(div|strong|span|ul|li|code|em)\b", tag) for tag in tags)
