"""Moodle XML. True/false answers read literally `true` and `false`; fractions are whole; tolerances are absolute.

`idnumber` and `tags` carry our ids, so that what a class has answered can be joined with the bank again.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from autograder.quiz.export.flat import Flat, answer_html, decimal, inline
from autograder.quiz.export.xml import add, write

SUFFIX = "xml"
TYPES = {
    "truefalse": "truefalse",
    "choice": "multichoice",
    "number": "numerical",
    "matching": "matching",
    "essay": "essay",
}


def export(questions: Sequence[Flat], title: str) -> bytes:
    """All questions as one Moodle XML file in the category `title`."""
    root = ET.Element("quiz")
    category = add(root, "question", type="category")
    add(add(category, "category"), "text", f"$course$/top/{title}")
    for flat in questions:
        _question(root, flat)
    return write(root)


def cannot(flat: Flat) -> str:
    """Why Moodle XML cannot hold a question, "" where it can."""
    return ""


def _question(root: ET.Element, flat: Flat) -> None:
    made = add(root, "question", type=TYPES[flat.kind])
    add(add(made, "name"), "text", flat.id)
    _html(made, "questiontext", flat.html("tex"))
    _html(made, "generalfeedback", inline(flat.feedback, "tex"))
    add(made, "defaultgrade", "1")
    add(made, "penalty", "0")
    add(made, "hidden", "0")
    add(made, "idnumber", flat.id)
    match flat.kind:
        case "truefalse":
            for answer in flat.answers:
                _answer(made, answer.text.lower(), 100 if answer.right else 0, "", "moodle_auto_format")
        case "choice":
            add(made, "single", "true")
            add(made, "shuffleanswers", "true")
            add(made, "answernumbering", "abc")
            for answer in flat.answers:
                _answer(
                    made,
                    answer_html(answer, "tex"),
                    100 if answer.right else 0,
                    inline(answer.feedback, "tex"),
                )
        case "number":
            _number(made, flat)
        case "matching":
            add(made, "shuffleanswers", "true")
            for step, place in flat.pairs:
                pair = _html(made, "subquestion", inline(step, "tex"))
                add(add(pair, "answer"), "text", place)
        case "essay":
            add(made, "responseformat", "editor")
            add(made, "responserequired", "1")
            add(made, "responsefieldlines", "15")
            add(made, "attachments", "0")
            rubric = "<ul>" + "".join(f"<li>{inline(mark, 'tex')}</li>" for mark in flat.rubric) + "</ul>"
            _html(made, "graderinfo", rubric)
    tags = add(made, "tags")
    for tag in (flat.item, *flat.tags):
        add(add(tags, "tag"), "text", tag)


def _number(made: ET.Element, flat: Flat) -> None:
    answer = _answer(made, decimal(flat.value), 100, "", "moodle_auto_format")
    add(answer, "tolerance", decimal(flat.tolerance))
    for value in flat.wrong:
        answer = _answer(made, decimal(value.amount), 0, inline(value.feedback, "tex"), "moodle_auto_format")
        add(answer, "tolerance", decimal(abs(value.amount) * flat.relative))
    add(made, "unitgradingtype", "0")
    add(made, "unitpenalty", "0")
    add(made, "showunits", "3")


def _answer(parent: ET.Element, text: str, fraction: int, feedback: str, form: str = "html") -> ET.Element:
    made = add(parent, "answer", fraction=str(fraction), format=form)
    add(made, "text", text)
    _html(made, "feedback", feedback)
    return made


def _html(parent: ET.Element, tag: str, text: str) -> ET.Element:
    made = add(parent, tag, format="html")
    add(made, "text", text)
    return made
