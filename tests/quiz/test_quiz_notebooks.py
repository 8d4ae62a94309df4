"""Quiz notebooks end to end: what is released holds no key, and a learner's draw is graded as theirs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from autograder import course as courses
from autograder.build import quiz as quizzes
from autograder.build.outputs import keys
from autograder.build.quiz import candidates, notebook
from autograder.content import Assignment, Course
from autograder.engine.notebook import grade_notebook
from autograder.learner import draw
from autograder.learner.client import instant
from autograder.quiz import pose
from autograder.sandbox import bwrap
from autograder.verdict import PartStatus, Status, Verdict

QUIZZES = ("quiz-1", "quiz-2", "quiz-3", "quiz-4", "quiz-5")


@pytest.fixture
def drawn(course: Course) -> Assignment:
    return course.assignment("quiz-4")


def _handed_in(course: Course, assignment: Assignment, folder: Path, learner: str, asked_as: str) -> Path:
    """The release with everything answered rightly for `learner`, who wrote `asked_as` as their name."""
    target = folder / assignment.name
    shutil.copytree(assignment.release, target)
    path = target / f"{assignment.name}.ipynb"
    made = nbformat.read(path, as_version=4)
    _cell(made, "ans-learner").source = f'learner = "{asked_as}"'
    for number, slot in enumerate(assignment.slots, 1):
        name = f"s{number}"
        among = candidates([course.items[ident] for ident in slot])
        ident, _, face = draw.face(learner, f"{assignment.name}/{name}", among).partition("#")
        right = quizzes.right_answer(pose.pose(course.items[ident], int(face)))
        _cell(
            made, f"ans-{name}"
        ).source = f"{name} = answer({', '.join(f'{k}={v}' for k, v in right.items())})"
    nbformat.write(made, path)
    return target


def _cell(made: NotebookNode, name: str) -> NotebookNode:
    found: NotebookNode = next(
        c for c in made.cells if c.metadata.get("nbgrader", {}).get("grade_id") == name
    )
    return found


def _graded(
    course: Course, assignment: Assignment, learner: str, folder: Path
) -> tuple[Verdict, NotebookNode]:
    try:
        bwrap.check()
    except bwrap.SandboxUnavailable as error:
        pytest.skip(str(error))
    return grade_notebook(course, assignment, learner, folder, sandboxed=True, run="x")


def test_each_slot_holds_one_form_and_no_item_stands_in_two(drawn: Assignment, course: Course) -> None:
    assert len(drawn.slots) == 10 and len(set(drawn.items)) == len(drawn.items)
    for slot in drawn.slots:
        assert len({course.items[name].form for name in slot}) == 1
    assert max(len(slot) for slot in drawn.slots) >= 3


def test_learners_get_questions_of_their_own(drawn: Assignment, course: Course) -> None:
    def mine(learner: str) -> list[str]:
        return [
            draw.face(learner, f"quiz-4/s{n}", candidates([course.items[name] for name in slot]))
            for n, slot in enumerate(drawn.slots, 1)
        ]

    assert mine("ada") == mine(" ADA ") != mine("ben")
    assert len({tuple(mine(str(n))) for n in range(20)}) == 20


@pytest.mark.parametrize("learner", ["ada", "ben"])
def test_a_drawn_quiz_is_graded_for_its_learner(
    course: Course, drawn: Assignment, tmp_path: Path, learner: str
) -> None:
    verdict, page = _graded(course, drawn, learner, _handed_in(course, drawn, tmp_path, learner, learner))
    assert verdict.status is Status.GRADED and verdict.score == verdict.max_score == 10
    shown = _cell(page, "ro-s1").outputs
    mine = draw.face(learner, "quiz-4/s1", candidates([course.items[name] for name in drawn.slots[0]]))
    asked = course.items[mine.partition("#")[0]].statement.split("$")[0]
    assert asked in str(shown)  # the question was asked where it was graded, too


def test_another_learners_questions_wait_for_a_person(
    course: Course, drawn: Assignment, tmp_path: Path
) -> None:
    verdict, _ = _graded(course, drawn, "ada", _handed_in(course, drawn, tmp_path, "ben", "ben"))
    assert {part.status for part in verdict.parts} == {PartStatus.PENDING}
    assert all("handed in by 'ada'" in part.reason for part in verdict.parts)


def test_a_learners_own_notebook_answers_for_their_draw(course: Course, drawn: Assignment) -> None:
    slot = [course.items[name] for name in drawn.slots[0]]
    for learner in ("ada", "ben", "chloe"):
        ident, _, face = draw.face(learner, "quiz-4/s1", candidates(slot)).partition("#")
        right = quizzes.right_answer(pose.pose(course.items[ident], int(face)))
        answers = {f"s1/{name}": eval(text) for name, text in right.items()}
        report = instant("s1", {**answers, "s1/learner": learner}, drawn.release)
        assert [line.state for line in report.lines] == ["right"] * len(right)
    assert "first" in instant("s1", answers, drawn.release).remark


@pytest.mark.parametrize("name", QUIZZES)
def test_the_release_holds_no_key(course: Course, name: str) -> None:
    assignment = course.assignment(name)
    texts = {path.name: path.read_text() for path in assignment.release.iterdir()}
    assert f"{name}.ipynb" in texts
    whole = "\n".join(texts.values())
    assert "BEGIN" not in whole and "expect." not in whole and "right =" not in whole
    asked = json.dumps(texts)
    for ident in assignment.items:
        item = course.items[ident]
        for text in (item.explanation, *(reason.refutation for reason in item.reasons)):
            assert not text or text not in asked, ident
            assert not text or json.dumps(text)[1:-1] not in whole, ident


@pytest.mark.parametrize("name", QUIZZES)
def test_all_points_are_equal_and_every_part_has_a_key(course: Course, name: str) -> None:
    assignment = course.assignment(name)
    made = notebook(course, assignment)
    found = keys(course, assignment, made)
    essays = [
        c for c in made.cells if c.metadata.get("nbgrader", {}).get("grade_id", "").startswith("essay-")
    ]
    assert len(found) + len(essays) == len(assignment.slots)
    assert len({key.points for key in found} | {c.metadata["nbgrader"]["points"] for c in essays}) == 1


def test_an_essay_has_a_model_answer_and_a_mark_scheme_that_learners_do_not_get(course: Course) -> None:
    assignment = course.assignment("quiz-5")
    (essay,) = [name for name in assignment.items if course.items[name].form == "essay"][:1]
    source = nbformat.read(assignment.notebook, as_version=4)
    release = nbformat.read(assignment.release / "quiz-5.ipynb", as_version=4)
    assert "=== BEGIN MARK SCHEME ===" in _cell(source, f"essay-{essay}").source
    assert _cell(release, f"essay-{essay}").source.strip() == "YOUR ANSWER HERE"


def test_confidence_is_asked_where_the_quiz_says_so(course: Course) -> None:
    release = nbformat.read(course.assignment("quiz-3").release / "quiz-3.ipynb", as_version=4)
    answers = [c.source for c in release.cells if c.metadata.get("nbgrader", {}).get("solution")]
    assert answers and all(re.fullmatch(r"q\d+ = answer\(.*, sure=\.\.\.\)", source) for source in answers)


def test_a_graded_quiz_holds_graded_items_alone(content: Path) -> None:
    path = content / "quizbank/sharding-basics.toml"
    text = path.read_text()
    path.write_text(text.replace('use = "practice"', 'use = "graded"', 3))
    head = content / "course.toml"
    head.write_text(
        head.read_text().replace(
            'topics = ["sharding-basics"]', 'topics = ["sharding-basics"]\nuse = "graded"'
        )
    )
    loaded = courses.load(content)
    assert loaded.assignment("quiz-1").items == ("q001", "q002", "q003")
    others = [name for a in loaded.assignments if a.quiz and a.name != "quiz-1" for name in a.items]
    assert not {"q001", "q002", "q003"} & set(others)
