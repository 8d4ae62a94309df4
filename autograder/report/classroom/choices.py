"""What learners chose: for each answer to be picked from a list, how many took which, and who they were."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from autograder.content import Course
from autograder.item import LETTERS
from autograder.report.classroom import measures
from autograder.report.classroom.data import Sheet
from autograder.verdict import Part


@dataclass(frozen=True)
class Option:
    """One thing to choose. `text` is empty where the answer says it all; `upper` and `lower` count the learners of the
    upper and lower 27% by their score in this assignment.
    """

    given: str
    text: str
    right: bool
    misconception: str
    count: int
    upper: int
    lower: int


@dataclass(frozen=True)
class Question:
    """One answer and what was chosen, the options in the order of the bank, then what else was answered, by number.
    `unanswered` counts those who chose nothing.
    """

    part: str
    options: tuple[Option, ...]
    unanswered: int

    @property
    def answered(self) -> int:
        return sum(option.count for option in self.options)


def of(course: Course, sheet: Sheet) -> tuple[Question, ...]:
    """The answers of a quiz that have a list to choose from, in the quiz's order."""
    parts: dict[str, dict[str, Part]] = {}
    for learner, answers in sheet.answers.items():
        for answer in answers.values():
            for part in answer.parts:
                parts.setdefault(part.id, {})[learner] = part
    scores = sheet.scores()
    learners = sorted(scores)
    upper, lower = measures.upper_and_lower([scores[learner] for learner in learners])
    high, low = {learners[n] for n in upper}, {learners[n] for n in lower}
    made = []
    for ident, given in parts.items():
        listed = _listed(course, ident)
        if listed:
            made.append(_question(ident, given, listed, high, low))
    return tuple(made)


def _listed(course: Course, ident: str) -> dict[str, tuple[str, str]]:
    """Letter → (text, misconception) of the reasons an answer is chosen from; empty for other answers."""
    item = course.items.get(ident.split("/")[0])
    if item is None or not ident.endswith("/because"):
        return {}
    return {
        letter: (reason.text, reason.misconception or "")
        for letter, reason in zip(LETTERS, item.reasons, strict=False)
    }


def _question(
    ident: str,
    given: Mapping[str, Part],
    listed: Mapping[str, tuple[str, str]],
    high: set[str],
    low: set[str],
) -> Question:
    chosen = {learner: _letter(part, listed) for learner, part in given.items()}
    expected = {str(part.evidence["expected"]) for part in given.values() if "expected" in part.evidence}
    counts = Counter(letter for letter in chosen.values() if letter)
    others = sorted((letter for letter in counts if letter not in listed), key=lambda o: (-counts[o], o))

    def option(letter: str) -> Option:
        text, misconception = listed.get(letter, ("", ""))
        took = {learner for learner, one in chosen.items() if one == letter}
        return Option(
            given=letter,
            text=text,
            right=letter in expected,
            misconception=misconception,
            count=counts[letter],
            upper=len(took & high),
            lower=len(took & low),
        )

    unanswered = sum(not letter for letter in chosen.values())
    return Question(ident, tuple(option(letter) for letter in [*listed, *others]), unanswered)


def _letter(part: Part, listed: Mapping[str, tuple[str, str]]) -> str:
    """What was chosen, as a letter where it is one of the list; empty where nothing was."""
    given = part.evidence.get("given")
    if given is None:
        return ""
    word = str(given).strip("'\"").strip()
    by_text = {text: letter for letter, (text, _) in listed.items()}
    return by_text.get(word, word.lower() if word.lower() in listed else word[:80])
