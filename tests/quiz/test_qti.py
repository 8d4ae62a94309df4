"""QTI 1.2 parses against its DTD and 2.1 against the rules of importers; both are read back as they went in."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from autograder.quiz.export import qti12, qti21
from autograder.quiz.export.flat import Flat, answer_html, inline
from autograder.quiz.export.xml import clean
from quiz.nasty import flats, named

NS = re.compile(rb' xmlns="[^"]+"')
QTI = f"{{{qti21.QTI}}}"


# --- QTI 1.2 ---------------------------------------------------------------------------------------------------------


def _assessment(questions: list[Flat], title: str = "FSDP") -> bytes:
    with zipfile.ZipFile(io.BytesIO(qti12.export(questions, title))) as archive:
        assert archive.testzip() is None
        manifest = archive.read("imsmanifest.xml").decode()
        assert 'type="imsqti_xmlv1p2"' in manifest
        for href in re.findall(r'href="([^"]+)"', manifest):
            assert href in archive.namelist()
        return NS.sub(b"", archive.read("shardlab/shardlab.xml"))


def _links(root: ET.Element) -> Iterator[str]:
    """Dangling, double and misrouted feedback, and ids that Canvas would replace: no schema sees these."""
    idents = [item.get("ident", "") for item in root.iter("item")]
    if len(set(idents)) != len(idents):
        yield "two items have one ident"
    every: set[str] = set()
    for item in root.iter("item"):
        where = item.get("ident")
        held = [feedback.get("ident", "") for feedback in item.iter("itemfeedback")]
        linked = [link.get("linkrefid", "") for link in item.iter("displayfeedback")]
        if len(set(held)) != len(held):
            yield f"{where}: two feedbacks have one ident"
        for ident in set(linked) - set(held):
            yield f"{where}: nothing is called {ident}"
        for ident in set(held) - set(linked):
            yield f"{where}: {ident} is never shown"
        for ident in held:
            if ident != "general_fb" and re.search("correct|wrong|general_", ident):
                yield f"{where}: {ident} would be routed by its name"
        labels = [label.get("ident", "") for label in item.iter("response_label")]
        kind = item.findtext(".//fieldentry", "")
        if kind in ("multiple_choice_question", "true_false_question"):
            if any(not label.isdigit() for label in labels):
                yield f"{where}: answer ids are numbers"
            if every & set(labels):
                yield f"{where}: an answer id stands in another item too"
            every |= set(labels)
        for test in item.iter("varequal"):
            if kind.startswith(("multiple", "true")) and test.text not in labels:
                yield f"{where}: no answer is called {test.text}"


def _same12(flat: Flat, item: ET.Element) -> None:
    fields = {f.findtext("fieldlabel"): f.findtext("fieldentry") for f in item.iter("qtimetadatafield")}
    assert item.get("ident") == flat.id and fields["question_type"] == qti12.TYPES[flat.kind]
    assert item.findtext("presentation/material/mattext") == clean(flat.html("tex"))
    said = {f.get("ident"): f.findtext(".//mattext") or "" for f in item.iter("itemfeedback")}
    assert said.get("general_fb", "") == clean(inline(flat.feedback, "tex")) or not flat.feedback.strip()
    scored = [c for c in item.iter("respcondition") if c.find("setvar") is not None]
    if flat.kind in ("truefalse", "choice"):
        labels = list(item.iter("response_label"))
        assert [label.findtext(".//mattext") for label in labels] == [
            clean(answer_html(answer, "tex")) for answer in flat.answers
        ]
        assert scored[0].findtext(".//varequal") == labels[flat.right].get("ident")
        for label, answer in zip(labels, flat.answers, strict=True):
            assert said.get(f"{label.get('ident')}_fb", "") == clean(inline(answer.feedback, "tex"))
    if flat.kind == "number":
        (right,) = scored
        assert Fraction(right.findtext(".//varequal") or "") == pytest.approx(flat.value, rel=1e-9)
        low, high = (Fraction(right.findtext(f".//{tag}") or "") for tag in ("vargte", "varlte"))
        assert [low, high] == pytest.approx(
            [flat.value - flat.tolerance, flat.value + flat.tolerance], rel=1e-9
        )
        if not flat.tolerance:  # Canvas takes it for exact where all three agree
            assert len({e.text for e in right.iter() if e.tag in ("varequal", "vargte", "varlte")}) == 1
    if flat.kind == "matching":
        assert [r.findtext("material/mattext") for r in item.iter("response_lid")] == [
            clean(inline(step, "tex")) for step, _ in flat.pairs
        ]
        places = {label.get("ident"): label.findtext(".//mattext") for label in item.iter("response_label")}
        assert [places[c.findtext(".//varequal")] for c in scored] == [place for _, place in flat.pairs]


def test_qti12_parses_against_its_dtd(questions: list[Flat], qti_dtd: Path) -> None:
    dtd = etree.DTD(str(qti_dtd))
    document = etree.fromstring(_assessment(questions))
    assert dtd.validate(document), str(dtd.error_log)[:2000]


def test_the_whole_bank_comes_back_from_qti12(questions: list[Flat]) -> None:
    root = ET.fromstring(_assessment(questions))
    assert list(_links(root)) == []
    items = list(root.iter("item"))
    assert len(items) == len(questions)
    for flat, item in zip(questions, items, strict=True):
        _same12(flat, item)
    assert qti12.export(questions, "FSDP") == qti12.export(questions, "FSDP")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(made=st.lists(flats(), min_size=1, max_size=5))
def test_nasty_texts_come_back_from_qti12(made: list[Flat]) -> None:
    asked = [flat for flat in named(made) if not qti12.cannot(flat)]
    root = ET.fromstring(_assessment(named(made), "nasty & <title>"))
    assert list(_links(root)) == []
    for flat, item in zip(asked, root.iter("item"), strict=True):
        _same12(flat, item)


def test_what_canvas_would_turn_into_zero_is_left_out(questions: list[Flat]) -> None:
    import dataclasses

    tiny = dataclasses.replace(
        next(flat for flat in questions if flat.kind == "number"), value=Fraction(1, 10**5)
    )
    assert "four decimals" in qti12.cannot(tiny)
    assert not [flat.id for flat in questions if qti12.cannot(flat)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'linkrefid="general_fb"', b'linkrefid="nobody"'),
        (b'<itemfeedback ident="general_fb">', b'<itemfeedback ident="correct_fb">'),
        (b'<item ident="q002_claim"', b'<item ident="q001_claim"'),
        (b'<response_label ident="', b'<response_label ident="x'),
    ],
)
def test_the_linter_of_links_sees_a_fault(questions: list[Flat], old: bytes, new: bytes) -> None:
    content = _assessment(questions)
    assert old in content
    assert list(_links(ET.fromstring(content.replace(old, new, 1))))


# --- QTI 2.1 ---------------------------------------------------------------------------------------------------------


def _items21(questions: list[Flat]) -> dict[str, ET.Element]:
    with zipfile.ZipFile(io.BytesIO(qti21.export(questions, "FSDP & more"))) as archive:
        assert archive.testzip() is None
        manifest = ET.fromstring(archive.read("imsmanifest.xml"))
        hrefs = [e.get("href", "") for e in manifest.iter() if e.tag.endswith("}resource")]
        assert set(hrefs) | {"imsmanifest.xml"} == set(archive.namelist())
        refs = ET.fromstring(archive.read("test.xml")).iter(f"{QTI}assessmentItemRef")
        assert [ref.get("identifier") for ref in refs] == [flat.id for flat in questions]
        return {flat.id: ET.fromstring(archive.read(f"items/{flat.id}.xml")) for flat in questions}


def _problems21(item: ET.Element) -> Iterator[str]:
    """What importers of QTI 2.1 trip over: undeclared, unused and double identifiers."""
    where = item.get("identifier")
    if not re.fullmatch(r"[A-Za-z_][\w.-]*", where or ""):
        yield f"{where}: no identifier"
    response = item.find(f"{QTI}responseDeclaration")
    interactions = [e for e in item.iter() if e.tag.endswith("Interaction")]
    if response is None or len(interactions) != 1:
        yield f"{where}: one response, one interaction"
        return
    if interactions[0].get("responseIdentifier") != response.get("identifier"):
        yield f"{where}: the interaction answers something else"
    choices = [c.get("identifier", "") for c in item.iter(f"{QTI}simpleChoice")]
    if len(set(choices)) != len(choices):
        yield f"{where}: two choices have one identifier"
    correct = [v.text or "" for v in response.iter(f"{QTI}value")]
    if choices and set(correct) - set(choices):
        yield f"{where}: the right answer is no choice"
    shown = {v.text for v in item.iter(f"{QTI}baseValue") if v.get("baseType") == "identifier"} - set(choices)
    held = [f.get("identifier") for f in item.iter(f"{QTI}modalFeedback")]
    if len(set(held)) != len(held) or shown != set(held):
        yield f"{where}: feedback {sorted(map(str, held))} against {sorted(map(str, shown))}"
    for test in item.iter(f"{QTI}equal"):
        mode, size = test.get("toleranceMode"), test.get("tolerance", "0 0").split()
        if (
            mode not in ("exact", "absolute")
            or len(size) != 2
            or (mode == "absolute") == (size == ["0", "0"])
        ):
            yield f"{where}: tolerance {mode} {size}"


def _words(element: ET.Element | None) -> str:
    return "".join("".join(element.itertext()).split()) if element is not None else ""


def _words_of(html: str) -> str:
    return _words(ET.fromstring(f"<p>{clean(html).replace('<br>', '<br/>')}</p>"))


def _same21(flat: Flat, item: ET.Element) -> None:
    correct = [v.text for v in item.findall(f"{QTI}responseDeclaration/{QTI}correctResponse/{QTI}value")]
    choices = {c.get("identifier"): _words(c) for c in item.iter(f"{QTI}simpleChoice")}
    said = {f.get("identifier"): _words(f) for f in item.iter(f"{QTI}modalFeedback")}
    assert _words_of(qti21._mathml(flat.text)) in _words(item.find(f"{QTI}itemBody"))
    if flat.feedback.strip():
        assert said["GENERAL"] == _words_of(qti21._mathml(flat.feedback))
    if flat.kind in ("truefalse", "choice"):
        assert list(choices.values()) == [_words_of(qti21._html(answer)) for answer in flat.answers]
        assert correct == [f"C{flat.right}"]
        for place, answer in enumerate(flat.answers):
            assert said.get(f"FB{place}", "") == _words_of(qti21._mathml(answer.feedback))
    if flat.kind == "number":
        assert Fraction(correct[0] or "") == pytest.approx(flat.value, rel=1e-9)
        test = item.find(f"{QTI}responseProcessing//{QTI}equal")
        assert test is not None
        sizes = [Fraction(size) for size in test.get("tolerance", "0 0").split()]
        assert sizes == pytest.approx([flat.tolerance] * 2, rel=1e-9)
    if flat.kind == "matching":
        steps = [step for step, _ in sorted(flat.pairs, key=lambda pair: int(pair[1]))]
        assert [choices[ident] for ident in correct] == [_words_of(qti21._mathml(step)) for step in steps]


def test_the_whole_bank_comes_back_from_qti21(questions: list[Flat]) -> None:
    items = _items21(questions)
    assert len(items) == len(questions)
    for flat in questions:
        assert list(_problems21(items[flat.id])) == []
        _same21(flat, items[flat.id])
    assert any(e.tag == "{http://www.w3.org/1998/Math/MathML}math" for i in items.values() for e in i.iter())
    assert qti21.export(questions, "FSDP") == qti21.export(questions, "FSDP")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(made=st.lists(flats(), min_size=1, max_size=5))
def test_nasty_texts_come_back_from_qti21(made: list[Flat]) -> None:
    asked = named(made)
    items = _items21(asked)
    for flat in asked:
        assert list(_problems21(items[flat.id])) == []
        _same21(flat, items[flat.id])
