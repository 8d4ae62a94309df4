"""What a drawn quiz calls above each answer: `ask("s1", learner)` shows the question that this learner was drawn.

The questions stand in `quiz.json` beside the notebook, without keys; which is whose follows from the learner's name.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from autograder.learner.draw import face, name_of

QUESTIONS = "quiz.json"

_asked: dict[str, str] = {}


class Question:
    """A question as it is shown: Markdown in a notebook, its text elsewhere."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return self.text


def ask(slot: str, learner: Any) -> None:
    """Shows the question of `slot` for `learner`, the name you are known by to your course."""
    question = Question(_text(str(slot), learner, Path.cwd()))
    interactive: Any = sys.modules.get("IPython")
    if interactive is not None and interactive.get_ipython() is not None:
        from IPython.display import display

        display(question)
    else:
        print(question)


def asked(slot: str) -> str | None:
    """For whom `slot` was asked last in this process, None where it was not."""
    return _asked.get(slot)


def _text(slot: str, learner: Any, folder: Path) -> str:
    if not isinstance(learner, str) or not name_of(learner):
        return "Write your user name between quotes into the cell `learner = ...` at the top, run it, then run this."
    _asked[slot] = learner  # whether or not its text can be shown: it is what the answer will be for
    try:
        known = json.loads((folder / QUESTIONS).read_text(encoding="utf-8"))
        faces = known["slots"][slot]
        text = str(known["questions"][face(learner, f"{known['quiz']}/{slot}", faces)])
    except (OSError, ValueError, KeyError, TypeError, IndexError, ZeroDivisionError):
        return f"`{QUESTIONS}` is missing or damaged: take a fresh copy from the course into this folder."
    return text
