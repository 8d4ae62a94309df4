"""Makes `instant.json`: what a learner's notebook answers from at once, sealed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from autograder.build.quiz import candidates, exercise_of
from autograder.content import Assignment, Course
from autograder.judge.instant import instant_record
from autograder.judge.item import item_parts
from autograder.judge.key import Key

QUIZ_COST = 10
"""log2 of scrypt's N in a quiz: one of four letters is guessed in four tries, however slow a try is made."""


def instant(course: Course, assignment: Assignment, found: Sequence[Key], cost: int) -> bytes:
    """The bytes of `instant.json` for the keys of an assignment; `cost` is log2 of scrypt's N."""
    cost = min(cost, QUIZ_COST) if assignment.kind == "quiz" else cost
    drawn = assignment.quiz is not None and assignment.quiz.draw == "learner"
    jobs = _faces(course, assignment) if drawn else [(key.exercise, key) for key in found]

    def record(job: tuple[str, Key]) -> dict[str, Any]:
        # The salt is no secret; it only has to differ between exercises. Nothing of the key goes into it: a hash of
        # the key in the open would let whoever guesses a key test the guess without paying for scrypt.
        salt = hashlib.sha256(f"{assignment.name}/{job[0]}".encode()).digest()[:16]
        return instant_record(job[1], salt, misconceptions=course.misconceptions, cost=cost)

    with ThreadPoolExecutor(os.cpu_count()) as pool:  # scrypt, nearly all of the work, runs without the GIL
        records = {job[0]: made for job, made in zip(jobs, pool.map(record, jobs), strict=True)}
    exercises = _by_slot(course, assignment, records) if drawn else records
    whole = {"schema": 1, "assignment": assignment.name, "exercises": exercises}
    return msgspec.json.format(msgspec.json.encode(whole), indent=1) + b"\n"


def _faces(course: Course, assignment: Assignment) -> list[tuple[str, Key]]:
    """A key for everything that may be drawn: (slot/id#face, key)."""
    assert assignment.quiz is not None
    jobs = []
    for number, slot in enumerate(assignment.slots, 1):
        name = exercise_of(number)
        for ident, face in ((i, f) for i in slot for f in range(len(candidates([course.items[i]])[0]))):
            parts = item_parts(
                name, course.items[ident], name=name, face=face, confidence=assignment.quiz.confidence
            )
            jobs.append((f"{name}/{ident}#{face}", Key(name, assignment.quiz.points, parts, "")))
    return jobs


def _by_slot(
    course: Course, assignment: Assignment, records: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    slots = {}
    for number, slot in enumerate(assignment.slots, 1):
        name = exercise_of(number)
        faces = candidates([course.items[ident] for ident in slot])
        drawn = {"item": name, "where": f"{assignment.name}/{name}", "faces": faces}
        mine = {one: records[f"{name}/{one}"] for several in faces for one in several}
        slots[name] = {"drawn": drawn, "records": mine}
    return slots
