"""Moodle XML holds the rules of Moodle's importer and is read back, question by question, as it went in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.quiz.export import moodle
from autograder.quiz.export.flat import Flat, answer_html, inline
from autograder.quiz.export.xml import clean
from quiz.nasty import flats, named

FRACTIONS = {"0", "100", "50", "33.33333", "25", "20", "16.66667", "14.28571", "12.5", "11.11111", "10", "5"}
"""Whole and broken grades that Moodle's own list holds; anything else it refuses."""
KINDS = {kind: name for name, kind in moodle.TYPES.items()}


def _problems(content: bytes) -> Iterator[str]:
    """What Moodle's importer (question/format/xml) would trip over."""
    root = ET.fromstring(content)
    if root.tag != "quiz":
        yield "the root is quiz"
    seen: set[str] = set()
    for question in root.findall("question"):
        kind = question.get("type", "")
        if kind == "category":
            continue
        ident = question.findtext("idnumber", "")
        where = f"{ident} ({kind})"
        if kind not in KINDS:
            yield f"{where}: no such type"
        if not ident or ident in seen:
            yield f"{where}: idnumber is missing or stands twice"
        seen.add(ident)
        if not question.findtext("name/text") or question.find("questiontext/text") is None:
            yield f"{where}: name and questiontext"
        for element in question.iter():
            if element.get("format") == "html" and element.find("text") is None:
                yield f"{where}: {element.tag} has a format and no text"
        answers = question.findall("answer")
        grades = [answer.get("fraction", "") for answer in answers]
        if any(grade not in FRACTIONS for grade in grades):
            yield f"{where}: fractions {grades}"
        if kind == "truefalse" and sorted(a.findtext("text", "") for a in answers) != ["false", "true"]:
            yield f"{where}: answers read true and false"
        if kind in ("truefalse", "multichoice", "numerical") and grades.count("100") != 1:
            yield f"{where}: one answer is worth 100"
        if kind == "multichoice" and question.findtext("single") != "true":
            yield f"{where}: single"
        if kind == "numerical":
            for answer in answers:
                number, tolerance = answer.findtext("text", ""), answer.findtext("tolerance", "")
                if not all(re.fullmatch(r"-?\d+(\.\d+)?", text) for text in (number, tolerance)):
                    yield f"{where}: {number!r} ± {tolerance!r} are no plain numbers"
        if kind == "matching" and len(question.findall("subquestion")) < 3:
            yield f"{where}: three subquestions or more"


def _same(flat: Flat, question: ET.Element) -> None:
    def text(way: str) -> str:
        return question.findtext(f"{way}/text", "")

    assert KINDS[question.get("type", "")] == flat.kind
    assert (text("name"), question.findtext("idnumber")) == (flat.id, flat.id)
    assert text("questiontext") == clean(flat.html("tex"))
    assert text("generalfeedback") == clean(inline(flat.feedback, "tex"))
    assert [tag.findtext("text") for tag in question.findall("tags/tag")] == [flat.item, *flat.tags]
    answers = question.findall("answer")
    if flat.kind == "truefalse":
        right = next(answer.findtext("text") for answer in answers if answer.get("fraction") == "100")
        assert right == flat.answers[flat.right].text.lower()
    if flat.kind == "choice":
        assert [
            (a.findtext("text"), a.get("fraction") == "100", a.findtext("feedback/text") or "")
            for a in answers
        ] == [(clean(answer_html(a, "tex")), a.right, clean(inline(a.feedback, "tex"))) for a in flat.answers]
    if flat.kind == "number":
        first, *others = answers
        assert Fraction(first.findtext("text", "")) == pytest.approx(flat.value, rel=1e-9)
        assert Fraction(first.findtext("tolerance", "")) == pytest.approx(flat.tolerance, rel=1e-9)
        assert [Fraction(a.findtext("text", "")) for a in others] == pytest.approx(
            [v.amount for v in flat.wrong]
        )
        assert [a.findtext("feedback/text") or "" for a in others] == [
            clean(inline(v.feedback, "tex")) for v in flat.wrong
        ]
    if flat.kind == "matching":
        assert [(s.findtext("text"), s.findtext("answer/text")) for s in question.findall("subquestion")] == [
            (clean(inline(step, "tex")), place) for step, place in flat.pairs
        ]


def _read(content: bytes) -> list[ET.Element]:
    return [q for q in ET.fromstring(content).findall("question") if q.get("type") != "category"]


def test_the_whole_bank_comes_back(questions: list[Flat]) -> None:
    content = moodle.export(questions, "FSDP")
    assert list(_problems(content)) == []
    found = _read(content)
    assert len(found) == len(questions)
    for flat, question in zip(questions, found, strict=True):
        _same(flat, question)
    assert content == moodle.export(questions, "FSDP")


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(made=st.lists(flats(), min_size=1, max_size=5))
def test_nasty_texts_come_back(made: list[Flat]) -> None:
    asked = named(made)
    content = moodle.export(asked, "nasty & <title>")
    assert [said for said in _problems(content) if "one answer is worth" not in said] == []
    for flat, question in zip(asked, _read(content), strict=True):
        _same(flat, question)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'fraction="100"', b'fraction="-15"'),
        (b"<text>true</text>", b"<text>True</text>"),
        (b"<single>true</single>", b"<single>yes</single>"),
        (b"<idnumber>q001_claim</idnumber>", b"<idnumber>q001_because</idnumber>"),
        (b'type="truefalse"', b'type="tf"'),
        (b"<tolerance>", b"<tolerance>1e-5 "),
    ],
)
def test_the_linter_sees_a_fault(questions: list[Flat], old: bytes, new: bytes) -> None:
    content = moodle.export(questions, "FSDP")
    assert old in content
    assert list(_problems(content.replace(old, new, 1)))


def test_html_is_escaped_once(questions: list[Flat]) -> None:
    content = moodle.export(questions, "FSDP")
    assert b"&amp;amp;amp;" not in content and b"&lt;p&gt;" in content
