"""Graded items drawn from templates: sound keys, secret numbers, and nothing that practice shows."""

from __future__ import annotations

import tomllib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import course as courses
from autograder.content import BankFile, Course
from autograder.item import Item, Numeric, TwoTier
from autograder.judge.item import item_parts
from autograder.quiz.draw import NothingToDraw, graded, toml
from autograder.quiz.lint import lint
from autograder.quiz.pose import pose


@settings(max_examples=10, deadline=None)
@given(seed=st.binary(min_size=16, max_size=16))
def test_what_is_drawn_is_sound_graded_and_new(course: Course, seed: bytes) -> None:
    made = graded(course.items, seed, 30)
    assert len(made) == len({item.id for item in made}) == len({pose(item).statement for item in made}) == 30
    assert {item.use for item in made} == {"graded"}
    assert not {item.id for item in made} & course.items.keys()
    for item in made:
        item_parts("x", item)  # the key holds, with wrong values apart from the right one
        posed = pose(item)
        assert "{{" not in posed.statement + posed.explanation
        assert item.named <= course.misconceptions.keys()
        if isinstance(item, Numeric):
            assert all(len(values) == 1 for values in item.parameters.values())
    assert made == graded(course.items, seed, 30)


def test_another_seed_draws_other_items(course: Course) -> None:
    first, second = (graded(course.items, seed, 20) for seed in (b"one", b"two"))
    assert not {item.id for item in first} & {item.id for item in second}
    assert [pose(item).statement for item in first] != [pose(item).statement for item in second]


def test_both_forms_and_both_keys_come(course: Course) -> None:
    made = graded(course.items, b"seed", 60)
    claims = [item for item in made if isinstance(item, TwoTier)]
    assert len(claims) >= 15 and len(made) - len(claims) >= 15
    assert {item.key for item in claims} == {True, False}
    for item in claims:
        (right,) = [reason.text for reason in item.reason if reason.right]
        stated = item.statement.rpartition("The answer given is **")[2].partition("**")[0]
        assert (f"It is {stated}." == right) == item.key


def test_numbers_go_beyond_what_practice_shows(course: Course) -> None:
    made = [item for item in graded(course.items, b"seed", 60) if isinstance(item, Numeric)]
    values = {(item.answer, name, v) for item in made for name, vs in item.parameters.items() for v in vs}
    known = {
        (item.answer, name, v)
        for item in course.items.values()
        if isinstance(item, Numeric)
        for name, vs in item.parameters.items()
        for v in vs
    }
    assert values - known


def test_it_is_a_bank_that_a_private_course_loads(course: Course, content: Path) -> None:
    made = graded(course.items, b"seed", 12, ["training-state"])
    text = toml(made, "exam")
    read = msgspec.convert(tomllib.loads(text), BankFile)
    back: list[Item] = [msgspec.structs.replace(item, topic="training-state") for item in read.item]
    assert back == made
    (content / "quizbank/exam.toml").write_text(text, encoding="utf-8")
    head = content / "course.toml"
    quiz = '\n[[quiz]]\nname = "exam"\ntitle = "Exam"\ntopics = ["exam"]\nuse = "graded"\ncount = 8\n'
    head.write_text(head.read_text() + quiz)
    loaded = courses.load(content)
    assert len(loaded.assignment("exam").items) == 8
    assert {loaded.items[name].use for name in loaded.assignment("exam").items} == {"graded"}
    rules = {finding.rule for finding in lint(loaded) if finding.file.endswith("exam.toml")}
    assert rules <= {"computed", "complete", "coverage", "numeric", "one-idea", "claim", "duplicate"}


def test_topics_without_templates_are_told(course: Course) -> None:
    with pytest.raises(NothingToDraw, match="other topics"):
        graded(course.items, b"seed", 1, ["decisions"])
    with pytest.raises(NothingToDraw, match="add parameters"):
        graded(course.items, b"seed", 100_000, ["activations"])
