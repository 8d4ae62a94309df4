"""QTI 2.1: a content package with one file a question and a test of all of them; maths as MathML."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from autograder.quiz.export.flat import Answer, Flat, answer_html, body, decimal, inline
from autograder.quiz.export.xml import add, clean, write, zipped
from autograder.quiz.text import BadMaths

SUFFIX = "qti21.zip"
QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
_CP = "http://www.imsglobal.org/xsd/imscp_v1p1"


def export(questions: Sequence[Flat], title: str) -> bytes:
    """All questions as one package."""
    files = {f"items/{flat.id}.xml": item(flat) for flat in questions}
    return zipped({"imsmanifest.xml": _manifest(questions), "test.xml": _test(questions, title), **files})


def cannot(flat: Flat) -> str:
    """Why QTI 2.1 cannot hold a question, "" where it can."""
    return ""


def item(flat: Flat) -> bytes:
    """One question as an assessmentItem."""
    root = ET.Element(
        "assessmentItem",
        {
            "xmlns": QTI,
            "identifier": flat.id,
            "title": flat.id,
            "adaptive": "false",
            "timeDependent": "false",
        },
    )
    _declare(root, flat)
    asked = add(root, "itemBody")
    _markup(asked, flat)
    match flat.kind:
        case "truefalse" | "choice":
            choice = add(
                asked, "choiceInteraction", responseIdentifier="RESPONSE", shuffle="true", maxChoices="1"
            )
            for place, answer in enumerate(flat.answers):
                _inline(add(choice, "simpleChoice", identifier=_id(place)), _html(answer))
        case "number":
            paragraph = add(asked, "p")
            add(paragraph, "textEntryInteraction", responseIdentifier="RESPONSE", expectedLength="12")
        case "matching":
            order = add(asked, "orderInteraction", responseIdentifier="RESPONSE", shuffle="true")
            for place, (step, _) in enumerate(flat.pairs):
                _inline(add(order, "simpleChoice", identifier=_id(place)), _mathml(step))
        case "essay":
            add(asked, "extendedTextInteraction", responseIdentifier="RESPONSE", expectedLines="15")
    _process(root, flat)
    for ident, text in _feedback(flat).items():
        made = add(root, "modalFeedback", outcomeIdentifier="FEEDBACK", identifier=ident, showHide="show")
        _inline(made, _mathml(text))
    return write(root)


def _declare(root: ET.Element, flat: Flat) -> None:
    cardinality = "ordered" if flat.kind == "matching" else "single"
    base = {"number": "float", "essay": "string"}.get(flat.kind, "identifier")
    response = add(root, "responseDeclaration", identifier="RESPONSE", cardinality=cardinality, baseType=base)
    match flat.kind:
        case "truefalse" | "choice":
            add(add(response, "correctResponse"), "value", _id(flat.right))
        case "number":
            add(add(response, "correctResponse"), "value", decimal(flat.value))
        case "matching":
            right = add(response, "correctResponse")
            for place in sorted(range(len(flat.pairs)), key=lambda place: int(flat.pairs[place][1])):
                add(right, "value", _id(place))
    score = add(root, "outcomeDeclaration", identifier="SCORE", cardinality="single", baseType="float")
    add(add(score, "defaultValue"), "value", "0")
    add(root, "outcomeDeclaration", identifier="FEEDBACK", cardinality="multiple", baseType="identifier")


def _process(root: ET.Element, flat: Flat) -> None:
    process = add(root, "responseProcessing")
    if flat.kind in ("truefalse", "choice", "matching"):
        _score(process, "match")
    elif flat.kind == "number":
        _score(process, "equal", flat)
    for ident, tests in _shown_for(flat):
        made = add(add(process, "responseCondition"), "responseIf")
        made.append(tests)
        several = add(add(made, "setOutcomeValue", identifier="FEEDBACK"), "multiple")
        add(several, "variable", identifier="FEEDBACK")
        add(several, "baseValue", ident, baseType="identifier")


def _score(process: ET.Element, how: str, flat: Flat | None = None) -> None:
    condition = add(add(process, "responseCondition"), "responseIf")
    tolerance = {} if flat is None else _tolerance(decimal(flat.tolerance))
    test = add(condition, how, **tolerance)
    add(test, "variable", identifier="RESPONSE")
    add(test, "correct", identifier="RESPONSE")
    add(add(condition, "setOutcomeValue", identifier="SCORE"), "baseValue", "1", baseType="float")


def _tolerance(size: str) -> dict[str, str]:
    return (
        {"toleranceMode": "absolute", "tolerance": f"{size} {size}"}
        if size != "0"
        else {"toleranceMode": "exact"}
    )


def _shown_for(flat: Flat) -> list[tuple[str, ET.Element]]:
    """Which feedback is shown when: (id, test on the response)."""
    found: list[tuple[str, ET.Element]] = []
    for place, answer in enumerate(flat.answers):
        if answer.feedback.strip():
            test = ET.Element("match")
            add(test, "variable", identifier="RESPONSE")
            add(test, "baseValue", _id(place), baseType="identifier")
            found.append((f"FB{place}", test))
    for place, value in enumerate(flat.wrong):
        test = ET.Element("equal", _tolerance(decimal(abs(value.amount) * flat.relative)))
        add(test, "variable", identifier="RESPONSE")
        add(test, "baseValue", decimal(value.amount), baseType="float")
        found.append((f"FB{place}", test))
    if flat.feedback.strip():
        test = ET.Element("not")
        add(add(test, "isNull"), "variable", identifier="RESPONSE")
        found.append(("GENERAL", test))
    return found


def _feedback(flat: Flat) -> dict[str, str]:
    texts = {f"FB{place}": a.feedback for place, a in enumerate(flat.answers) if a.feedback.strip()}
    texts |= {f"FB{place}": value.feedback for place, value in enumerate(flat.wrong)}
    return {**texts, **({"GENERAL": flat.feedback} if flat.feedback.strip() else {})}


def _id(place: int) -> str:
    return f"C{place}"


def _html(answer: Answer) -> str:
    return answer_html(answer, "mathml") if answer.code else _mathml(answer.text)


def _mathml(text: str) -> str:
    try:
        return inline(text, "mathml")
    except BadMaths:  # the lint refuses such LaTeX in the bank; as text it still says what was meant
        return inline(text, "tex")


def _markup(parent: ET.Element, flat: Flat) -> None:
    for child in _parsed(body(flat, _mathml)):
        parent.append(child)


def _inline(parent: ET.Element, html: str) -> None:
    (made,) = _parsed(f"<p>{html}</p>")
    parent.text = made.text
    parent.extend(list(made))


def _parsed(html: str) -> list[ET.Element]:
    """HTML of ours as elements: void elements closed, MathML in its namespace."""
    whole = ET.fromstring(f"<all>{clean(html).replace('<br>', '<br/>')}</all>")
    return list(whole)


def _test(questions: Sequence[Flat], title: str) -> bytes:
    root = ET.Element("assessmentTest", {"xmlns": QTI, "identifier": "shardlab", "title": clean(title)})
    part = add(root, "testPart", identifier="part1", navigationMode="nonlinear", submissionMode="individual")
    section = add(part, "assessmentSection", identifier="section1", title=title, visible="true")
    for flat in questions:
        add(section, "assessmentItemRef", identifier=flat.id, href=f"items/{flat.id}.xml")
    return write(root)


def _manifest(questions: Sequence[Flat]) -> bytes:
    root = ET.Element("manifest", {"xmlns": _CP, "identifier": "shardlab_manifest"})
    metadata = add(root, "metadata")
    add(metadata, "schema", "QTIv2.1 Package")
    add(metadata, "schemaversion", "1.0.0")
    add(root, "organizations")
    resources = add(root, "resources")
    test = add(resources, "resource", identifier="shardlab_test", type="imsqti_test_xmlv2p1", href="test.xml")
    add(test, "file", href="test.xml")
    for flat in questions:
        href = f"items/{flat.id}.xml"
        add(test, "dependency", identifierref=flat.id)
        made = add(resources, "resource", identifier=flat.id, type="imsqti_item_xmlv2p1", href=href)
        add(made, "file", href=href)
    return write(root)
