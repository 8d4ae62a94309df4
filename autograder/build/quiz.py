"""Makes a quiz notebook of items of the bank: what is asked, the learner's cell, the locked check.

Where items are drawn for each learner, a slot shows its question with `ask`, from `quiz.json` beside the notebook; all
that compete for a slot are of one form, so that the cells are the same for all learners.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec
from nbformat import NotebookNode

from autograder.build.source import assemble, code, markdown, metadata
from autograder.content import Assignment, Course, Item, Quiz
from autograder.item import Essay
from autograder.judge.item import SURE_SHARE
from autograder.learner.ask import QUESTIONS
from autograder.learner.draw import face as draw_face
from autograder.quiz import pose
from autograder.quiz.pose import Posed

__all__ = [
    "QUESTIONS",
    "answers_for",
    "candidates",
    "exercise_of",
    "notebook",
    "question",
    "questions",
    "right_answer",
]

AUTHOR = "verify"
"""The learner whose questions an instructor notebook answers: `shardlab verify` hands in under this name."""

_HEAD = """\
# {title}

{count}. Fill in each `answer(…)`, run its cell, then run the check below it.

{forms}
{more}"""

_FORMS = {
    "two-tier": '**True or false, and because**: `answer(claim=True, because="b")`. Half the points are for the '
    "claim, half for the right reason; the reason counts only with the right claim.",
    "spot-the-error": '**Spot the error**: `answer(step=2, because="c")`, the number of the step that is wrong and '
    "what is right. Half the points each; the correction counts only with the right step.",
    "why": '**Choose the reason**: `answer(because="a")`.',
    "numeric": '**A number with its unit**: `answer(value="1.5 GB")`. Any unit of the right kind will do.',
    "ordering": '**Put in order**: `answer(order="c a b")`, the letters in the order in which things happen.',
    "essay": "**In your own words**: a person reads it.",
}
_TEXTS = 'A letter and the text behind it are the same answer, and so are `True` and `"T"`.'
_SURE = (
    "`sure=80` says how sure you are that the rest of your answer is right, in per cent. It is worth {share:.0%} of "
    "the points, most when you say what you believe: who is right four times in five does best with 80."
)
_WHOSE = "Your questions are drawn for you: first write your user name into the cell below."
_RECORDED = "This quiz is graded: answers are recorded, and what was right is told when it is returned."


def notebook(course: Course, assignment: Assignment) -> NotebookNode:
    """The instructor notebook of a quiz: one question, one answer cell and one check cell an item or slot."""
    quiz = _quiz(assignment)
    slots = [[course.items[name] for name in slot] for slot in assignment.slots]
    cells = [markdown(_head(assignment, slots))]
    if quiz.draw == "learner":
        cells += [
            code("from autograder import answer, ask, submit", **metadata("locked", "setup")),
            code(
                f'### BEGIN SOLUTION\nlearner = "{AUTHOR}"  # your user name, in quotes\n### END SOLUTION',
                **metadata("answer", "learner"),
            ),
        ]
    else:
        cells.append(code("from autograder import answer, submit", **metadata("locked", "setup")))
    for number, slot in enumerate(slots, 1):
        cells += (
            _drawn(course, number, slot, assignment)
            if quiz.draw == "learner"
            else _fixed(number, slot[0], quiz)
        )
    return assemble(cells, assignment.name)


def question(items: Mapping[str, Item], ident: str, points: float) -> list[NotebookNode]:
    """The cells of one item in a notebook that is no quiz: what is asked, the answer, the check. Raises KeyError."""
    return _asked(items[ident], Quiz(name="", title="", points=points))


def questions(course: Course, assignment: Assignment) -> bytes | None:
    """The questions of a drawn quiz, without keys, as its `quiz.json`; None where nothing is drawn."""
    if _quiz(assignment).draw != "learner":
        return None
    slots = {}
    texts = {}
    for number, slot in enumerate(assignment.slots, 1):
        slots[_slot(number)] = candidates([course.items[name] for name in slot])
        for name in slot:
            item = course.items[name]
            for face in range(pose.faces(item)):
                texts[f"{name}#{face}"] = pose.markdown(pose.pose(item, face))
    whole = {"schema": 1, "quiz": assignment.name, "slots": slots, "questions": texts}
    return msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n"


def answers_for(course: Course, assignment: Assignment, learner: str) -> dict[str, str]:
    """The right text of every answer cell of a drawn quiz for `learner`, by what the cell answers (learner, s1 …)."""
    made = {"learner": f'learner = "{learner}"'}
    for number, slot in enumerate(assignment.slots, 1):
        name = _slot(number)
        posed = _posed_for(
            course, [course.items[ident] for ident in slot], f"{assignment.name}/{name}", learner
        )
        made[name] = f"{name} = {_answer(posed, _quiz(assignment))}"
    return made


def _posed_for(course: Course, slot: list[Item], where: str, learner: str) -> Posed:
    ident, _, face = draw_face(learner, where, candidates(slot)).partition("#")
    return pose.pose(course.items[ident], int(face))


def candidates(items: list[Item]) -> list[list[str]]:
    """What competes for a slot: for each item its faces, as "id#face"."""
    return [[f"{item.id}#{face}" for face in range(pose.faces(item))] for item in items]


def exercise_of(number: int) -> str:
    """What the check of slot `number`, from 1, submits."""
    return _slot(number)


def _slot(number: int) -> str:
    return f"s{number}"


def _quiz(assignment: Assignment) -> Quiz:
    assert assignment.quiz is not None
    return assignment.quiz


def _head(assignment: Assignment, slots: list[list[Item]]) -> str:
    quiz = _quiz(assignment)
    present = [slot[0].form for slot in slots]
    forms = [f"- {words}" for form, words in _FORMS.items() if form in present]
    more = [_TEXTS]
    if quiz.confidence:
        more.append(_SURE.format(share=SURE_SHARE))
    if quiz.use == "graded":
        more.append(_RECORDED)
    if quiz.draw == "learner":
        more.append(_WHOSE)
    count = f"{len(slots)} questions" if len(slots) > 1 else "One question"
    return _HEAD.format(
        title=assignment.title, count=count, forms="\n".join(forms), more="".join(f"\n{m}\n" for m in more)
    ).rstrip()


def _fixed(number: int, item: Item, quiz: Quiz) -> list[NotebookNode]:
    return _asked(item, quiz, f"## Question {number}\n\n")


def _asked(item: Item, quiz: Quiz, heading: str = "") -> list[NotebookNode]:
    posed = pose.pose(item)
    asked = markdown(f"{heading}{pose.markdown(posed)}")
    if isinstance(item, Essay):
        return [asked, markdown(_model(posed, quiz.points), **metadata("essay", item.id, quiz.points))]
    sure = ", confidence=True" if quiz.confidence else ""
    key = f'expect.item("{item.id}"{sure})'
    return [asked, *_answered(item.id, posed, quiz, key)]


def _drawn(course: Course, number: int, slot: list[Item], assignment: Assignment) -> list[NotebookNode]:
    quiz, name = _quiz(assignment), _slot(number)
    where = f"{assignment.name}/{name}"
    among = candidates(slot)
    posed = _posed_for(course, slot, where, AUTHOR)
    sure = ", confidence=True" if quiz.confidence else ""
    key = f'expect.drawn("{name}", where="{where}", among={json.dumps(among)}{sure})'
    return [
        markdown(f"## Question {number}"),
        code(f'ask("{name}", learner)', **metadata("locked", name)),
        *_answered(name, posed, quiz, key),
    ]


def _answered(name: str, posed: Posed, quiz: Quiz, key: str) -> list[NotebookNode]:
    """The learner's cell with its solution, and the check with its key."""
    answered = f"### BEGIN SOLUTION\n{name} = {_answer(posed, quiz)}\n### END SOLUTION"
    check = f'submit("{name}", {name}={name})\n### BEGIN HIDDEN TESTS\n{key}\n### END HIDDEN TESTS'
    return [
        code(answered, **metadata("answer", name)),
        code(check, **metadata("check", name, quiz.points)),
    ]


def _answer(posed: Posed, quiz: Quiz) -> str:
    right = {**right_answer(posed), **({"sure": "100"} if quiz.confidence else {})}
    return "answer(" + ", ".join(f"{field}={value}" for field, value in right.items()) + ")"


def right_answer(posed: Posed) -> dict[str, str]:
    """The right answer as the arguments of `answer(…)`."""
    first = next((choice.letter for choice in posed.first if choice.right), "")
    because = next((f'"{choice.letter}"' for choice in posed.choices if choice.right), "")
    match posed.form:
        case "two-tier":
            return {"claim": str(first == "T"), "because": because}
        case "spot-the-error":
            return {"step": first, "because": because}
        case "why":
            return {"because": because}
        case "ordering":
            return {"order": f'"{" ".join(posed.order)}"'}
    assert posed.value is not None
    return {"value": f'"{pose.shown(posed.value.amount)} {posed.unit}"'.replace(' "', '"')}


def _model(posed: Posed, points: float) -> str:
    """A model answer and its mark scheme, for graders: the release replaces both by the learner's empty cell."""
    marks = "\n".join(f"- {mark.share * points:g}: {mark.text}" for mark in posed.rubric)
    return (
        f"{posed.explanation.strip()}\n\n=== BEGIN MARK SCHEME ===\n\n"
        f"Points, to a sum of {points:g}:\n\n{marks}\n\n=== END MARK SCHEME ==="
    )
