"""QTI 1.2 as Canvas imports it: a zip of manifest, quiz settings and one assessment.

Canvas routes feedback by its id: one that holds "correct" (and not "incorrect") is shown for right answers, "general_"
for all. So the id of an answer's own feedback holds none of these words. Answer ids are numbers; others are replaced
at random. Item ids follow from ours, never from a text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from xml.etree import ElementTree as ET

from autograder.quiz.export.flat import Flat, answer_html, decimal, inline
from autograder.quiz.export.xml import add, write, zipped

SUFFIX = "qti12.zip"
TYPES = {
    "truefalse": "true_false_question",
    "choice": "multiple_choice_question",
    "number": "numerical_question",
    "matching": "matching_question",
    "essay": "essay_question",
}
SMALLEST = Fraction(1, 10_000)
"""Canvas keeps four decimals of a number: what is smaller becomes zero."""
_QTI = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
_CP = "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"
_CANVAS = "http://canvas.instructure.com/xsd/cccv1p0"


def export(questions: Sequence[Flat], title: str) -> bytes:
    """All questions as one package."""
    ident = "shardlab"
    held = [flat for flat in questions if not cannot(flat)]
    return zipped(
        {
            "imsmanifest.xml": _manifest(ident, title),
            f"{ident}/assessment_meta.xml": _meta(ident, title, len(held)),
            f"{ident}/{ident}.xml": assessment(held, ident, title),
        }
    )


def cannot(flat: Flat) -> str:
    """Why Canvas cannot hold a question, "" where it can."""
    if flat.kind == "number" and flat.value and abs(flat.value) < SMALLEST:
        return f"Canvas keeps four decimals, and {decimal(flat.value)} would become 0"
    return ""


def assessment(questions: Sequence[Flat], ident: str, title: str) -> bytes:
    """The QTI document alone."""
    root = ET.Element("questestinterop", {"xmlns": _QTI})
    test = add(root, "assessment", ident=ident, title=title)
    section = add(test, "section", ident="root_section")
    for flat in questions:
        _item(section, flat)
    return write(root)


def answer_id(flat: Flat, place: int) -> str:
    """The id of an answer: a number, unique in the bank, from the question's id and the answer's place."""
    number = int.from_bytes(hashlib.sha256(flat.id.encode()).digest()[:8]) % 10**12
    return f"{number + 1}{place:02}"


def _item(section: ET.Element, flat: Flat) -> None:
    item = add(section, "item", ident=flat.id, title=flat.id)
    fields = add(add(item, "itemmetadata"), "qtimetadata")
    values = {"question_type": TYPES[flat.kind], "points_possible": "1"}
    if flat.answers:
        ids = ",".join(answer_id(flat, place) for place in range(len(flat.answers)))
        values["original_answer_ids"] = ids
    for name, value in values.items():
        entry = add(fields, "qtimetadatafield")
        add(entry, "fieldlabel", name)
        add(entry, "fieldentry", value)
    asked = add(item, "presentation")
    _text(asked, flat.html("tex"))
    process = add(item, "resprocessing")
    add(add(process, "outcomes"), "decvar", maxvalue="100", minvalue="0", varname="SCORE", vartype="Decimal")
    if flat.feedback.strip():
        condition = add(process, "respcondition", continue_="Yes")
        add(add(condition, "conditionvar"), "other")
        add(condition, "displayfeedback", feedbacktype="Response", linkrefid="general_fb")
    feedback: dict[str, str] = {}
    match flat.kind:
        case "truefalse" | "choice":
            feedback = _choice(asked, process, flat)
        case "number":
            feedback = _number(asked, process, flat)
        case "matching":
            _matching(asked, process, flat)
        case "essay":
            response = add(asked, "response_str", ident="response1", rcardinality="Single")
            add(add(response, "render_fib"), "response_label", ident="answer1", rshuffle="No")
            add(add(add(process, "respcondition", continue_="No"), "conditionvar"), "other")
    if flat.feedback.strip():
        feedback = {"general_fb": inline(flat.feedback, "tex"), **feedback}
    for ident, text in feedback.items():
        material = add(add(item, "itemfeedback", ident=ident), "flow_mat")
        _text(material, text)


def _choice(asked: ET.Element, process: ET.Element, flat: Flat) -> dict[str, str]:
    response = add(asked, "response_lid", ident="response1", rcardinality="Single")
    render = add(response, "render_choice")
    feedback = {}
    for place, answer in enumerate(flat.answers):
        ident = answer_id(flat, place)
        # a true/false question has exactly the choices True and False
        _text(add(render, "response_label", ident=ident), answer_html(answer, "tex"))
        if answer.feedback.strip():
            condition = add(process, "respcondition", continue_="Yes")
            add(add(condition, "conditionvar"), "varequal", ident, respident="response1")
            add(condition, "displayfeedback", feedbacktype="Response", linkrefid=f"{ident}_fb")
            feedback[f"{ident}_fb"] = inline(answer.feedback, "tex")
    condition = add(process, "respcondition", continue_="No")
    add(add(condition, "conditionvar"), "varequal", answer_id(flat, flat.right), respident="response1")
    add(condition, "setvar", "100", action="Set", varname="SCORE")
    return feedback


def _number(asked: ET.Element, process: ET.Element, flat: Flat) -> dict[str, str]:
    response = add(asked, "response_str", ident="response1", rcardinality="Single")
    add(add(response, "render_fib", fibtype="Decimal"), "response_label", ident="answer1")
    feedback = {}
    for place, value in enumerate(flat.wrong):
        condition = add(process, "respcondition", continue_="Yes")
        _range(condition, value.amount, abs(value.amount) * flat.relative)
        ident = f"{answer_id(flat, place)}_fb"
        add(condition, "displayfeedback", feedbacktype="Response", linkrefid=ident)
        feedback[ident] = inline(value.feedback, "tex")
    condition = add(process, "respcondition", continue_="No")
    _range(condition, flat.value, flat.tolerance)
    add(condition, "setvar", "100", action="Set", varname="SCORE")
    return feedback


def _range(condition: ET.Element, value: Fraction, tolerance: Fraction) -> None:
    """The value, or what lies within the tolerance. Canvas takes it for exact only where all three agree."""
    either = add(add(condition, "conditionvar"), "or")
    add(either, "varequal", decimal(value), respident="response1")
    both = add(either, "and")
    add(both, "vargte", decimal(value - tolerance), respident="response1")
    add(both, "varlte", decimal(value + tolerance), respident="response1")


def _matching(asked: ET.Element, process: ET.Element, flat: Flat) -> None:
    places = sorted(place for _, place in flat.pairs)
    share = Fraction(100, len(flat.pairs))
    for number, (step, place) in enumerate(flat.pairs):
        ident = f"response_{answer_id(flat, number)}"
        response = add(asked, "response_lid", ident=ident, rcardinality="Single")
        _text(response, inline(step, "tex"))
        render = add(response, "render_choice")
        for other in places:
            _text(add(render, "response_label", ident=answer_id(flat, 50 + int(other))), other)
        condition = add(process, "respcondition", continue_="Yes")
        right = answer_id(flat, 50 + int(place))
        add(add(condition, "conditionvar"), "varequal", right, respident=ident)
        add(condition, "setvar", f"{float(share):.2f}", varname="SCORE", action="Add")


def _text(parent: ET.Element, html: str) -> None:
    add(add(parent, "material"), "mattext", html, texttype="text/html")


def _manifest(ident: str, title: str) -> bytes:
    root = ET.Element("manifest", {"identifier": f"{ident}_manifest", "xmlns": _CP})
    metadata = add(root, "metadata")
    add(metadata, "schema", "IMS Content")
    add(metadata, "schemaversion", "1.1.3")
    add(root, "organizations")
    resources = add(root, "resources")
    quiz = add(resources, "resource", identifier=ident, type="imsqti_xmlv1p2")
    add(quiz, "file", href=f"{ident}/{ident}.xml")
    add(quiz, "dependency", identifierref=f"{ident}_meta")
    meta = add(
        resources,
        "resource",
        identifier=f"{ident}_meta",
        type="associatedcontent/imscc_xmlv1p1/learning-application-resource",
        href=f"{ident}/assessment_meta.xml",
    )
    add(meta, "file", href=f"{ident}/assessment_meta.xml")
    return write(root)


def _meta(ident: str, title: str, points: int) -> bytes:
    root = ET.Element("quiz", {"identifier": ident, "xmlns": _CANVAS})
    for name, value in {
        "title": title,
        "description": "",
        "shuffle_answers": "true",
        "scoring_policy": "keep_highest",
        "quiz_type": "practice_quiz",
        "points_possible": f"{points}",
        "allowed_attempts": "-1",
    }.items():
        add(root, name, value)
    return write(root)
