"""Anki: a deck of cards, one a question, through genanki.

Fields are HTML with maths in \\( \\). Model, deck and notes have fixed ids, the note's from our question id: importing
twice makes no doubles, and an import with a later time updates what has changed. The time grows with the versions of
the items and with nothing else, so the file is the same whenever it is made.
"""

from __future__ import annotations

import importlib
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.quiz.export.flat import Flat, answer_html, inline, printed
from autograder.quiz.export.xml import zipped
from autograder.tomlfile import ContentError

SUFFIX = "apkg"
MODEL_ID = 1_607_392_319
DECK_ID = 2_059_400_110
BEGAN = 1_767_225_600
"""Seconds: the first of January 2026, from which versions are counted."""
FIELDS = ("Id", "Question", "Choices", "Answer", "Why")
_FRONT = "{{Question}}{{Choices}}"
_BACK = '{{FrontSide}}<hr id="answer">{{Answer}}<div class="why">{{Why}}</div>'
_CSS = """\
.card { font: 20px/1.45 sans-serif; max-width: 42em; margin: 0 auto; padding: .5em; }
ol.choices { list-style: lower-alpha; } .why { margin-top: 1em; } pre { overflow-x: auto; }
"""


def export(questions: Sequence[Flat], title: str) -> bytes:
    """All questions as one .apkg. Raises ContentError where genanki is not installed."""
    try:
        genanki: Any = importlib.import_module("genanki")
    except ImportError as error:
        raise ContentError("the Anki export needs genanki: pip install 'shardlab[export]'") from error
    template = {"name": "Question", "qfmt": _FRONT, "afmt": _BACK}
    model = genanki.Model(
        MODEL_ID, "shardlab", fields=[{"name": name} for name in FIELDS], templates=[template], css=_CSS
    )
    deck = genanki.Deck(DECK_ID, title)
    for flat in questions:
        fields = [flat.id, flat.html("tex"), _choices(flat), _answer(flat), inline(flat.feedback, "tex")]
        tags = [tag.replace(" ", "_") for tag in (flat.item, *flat.tags)]
        deck.add_note(genanki.Note(model=model, fields=fields, tags=tags, guid=f"shardlab-{flat.id}"))
    with tempfile.TemporaryDirectory(prefix="shardlab-anki-") as name:
        path = Path(name) / "deck.apkg"
        genanki.Package(deck).write_to_file(path, timestamp=float(changed(questions)))
        with zipfile.ZipFile(path) as archive:
            return zipped({entry: archive.read(entry) for entry in sorted(archive.namelist())})


def cannot(flat: Flat) -> str:
    """Why Anki cannot hold a question, "" where it can."""
    return ""


def changed(questions: Sequence[Flat]) -> int:
    """When the deck last changed, in seconds: later with every new question and every new version."""
    return BEGAN + sum(flat.version for flat in questions)


def _choices(flat: Flat) -> str:
    if flat.kind == "matching":
        return (
            "<ol class='choices'>" + "".join(f"<li>{inline(s, 'tex')}</li>" for s, _ in flat.pairs) + "</ol>"
        )
    if flat.kind != "choice":
        return "<p>True or false?</p>" if flat.kind == "truefalse" else ""
    return (
        "<ol class='choices'>" + "".join(f"<li>{answer_html(a, 'tex')}</li>" for a in flat.answers) + "</ol>"
    )


def _answer(flat: Flat) -> str:
    match flat.kind:
        case "truefalse":
            return f"<p><b>{flat.answers[flat.right].text}</b></p>"
        case "choice":
            wrong = "".join(
                f"<li>{answer_html(a, 'tex')}: {inline(a.feedback, 'tex')}</li>"
                for a in flat.answers
                if not a.right and a.feedback.strip()
            )
            return f"<p><b>{answer_html(flat.answers[flat.right], 'tex')}</b></p><ul>{wrong}</ul>"
        case "number":
            wrong = "".join(
                f"<li>{printed(v.amount)} {flat.unit}: {inline(v.feedback, 'tex')}</li>" for v in flat.wrong
            )
            return f"<p><b>{printed(flat.value)} {flat.unit}</b></p><ul>{wrong}</ul>"
        case "matching":
            steps = sorted(flat.pairs, key=lambda pair: int(pair[1]))
            return "<ol>" + "".join(f"<li>{inline(step, 'tex')}</li>" for step, _ in steps) + "</ol>"
    return "<ul>" + "".join(f"<li>{inline(mark, 'tex')}</li>" for mark in flat.rubric) + "</ul>"
