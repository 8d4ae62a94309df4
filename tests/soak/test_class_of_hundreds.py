"""Hundreds of mixed hand-ins on this machine against the known truth: none wrong, memory flat, cores busy.

SHARDLAB_SOAK is their number, 1,000 where it is not given.
"""

from __future__ import annotations

import contextlib
import csv
import os
import random
import shutil
import statistics
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from autograder.build import attempts
from autograder.content import Course
from autograder.sample.handin import HandIn
from autograder.sample.layout import layout
from autograder.sample.learners import LEARNERS
from autograder.verdict import read
from tests import grader

SIZE = int(os.environ.get("SHARDLAB_SOAK", "1000"))
ROOM_MIB = 48
"""What the median memory of pool and workers may grow by from the first quarter to the last."""


def _expected() -> dict[tuple[str, str], tuple[str, ...]]:
    """(learner, assignment) of the sample class → status, score, max_score, trouble, misconceptions."""
    with grader.GOLDEN.open(encoding="utf-8") as file:
        return {(r[0], r[1]): tuple(r[2:]) for r in list(csv.reader(file))[1:]}


def _copies(course: Course, root: Path, size: int) -> dict[str, tuple[str, str]]:
    """Lays out `size` hand-ins drawn from the sample class and all labs' attempts: learner → which of them it is."""
    sample = layout(course, root.parent / "sample")
    known = [
        (one.id, name)
        for one in LEARNERS
        for name in one.hands_in
        if (sample / "submitted" / one.id / name).is_dir()
    ]
    for lab in course.labs.values():
        assignment = course.assignment(lab.assignment)
        for path in attempts.attempts(lab):
            who = f"{lab.name}-{path.stem}"
            target = sample / "submitted" / who / assignment.name
            target.parent.mkdir()
            HandIn(course, assignment, target).lab(f"attempts/{path.name}").save()
            known.append((who, assignment.name))
    chance = random.Random(size)
    made = {}
    for number in range(size):
        who, name = known[number] if number < len(known) else chance.choice(known)
        learner = f"s{number:04}"
        shutil.copytree(sample / "submitted" / who / name, root / "submitted" / learner / name)
        made[learner] = (who, name)
    return made


@pytest.mark.soak
def test_a_class_of_hundreds_is_graded_right(course: Course, tmp_path: Path) -> None:
    root = layout(course, tmp_path / "class", learners=("nobody",))
    made = _copies(course, root, SIZE)
    memory: list[int] = []
    workers: dict[int, list[int]] = {}
    psutil.cpu_percent()
    with grader.grading(root) as running:

        def sample() -> bool:
            with contextlib.suppress(psutil.NoSuchProcess):
                memory.append(psutil.Process(running.process.pid).memory_info().rss >> 20)
            for process in running.workers():
                with contextlib.suppress(psutil.NoSuchProcess):
                    workers.setdefault(process.pid, []).append(process.memory_info().rss >> 20)
            return False

        running.wait_for(sample, patience=24 * 3600, every=1.0)
        busy = psutil.cpu_percent()
        status, said = running.end()
    assert status == 0, said[-3000:]
    wrong = list(_wrong(course, root, made))
    for name, series in (("pool", memory), *((f"worker {pid}", s) for pid, s in workers.items())):
        first, last = _quarters(series)
        print(f"{name}: {first} MiB in the first quarter, {last} MiB in the last")
        assert last <= first + ROOM_MIB, f"{name} grows: {series[:: max(1, len(series) // 40)]}"
    print(f"{SIZE} hand-ins, {len(wrong)} wrong; cores {busy:.0f} % busy")
    assert wrong == []
    grader.check_consistent(root)


def _wrong(course: Course, root: Path, made: dict[str, tuple[str, str]]) -> Iterator[str]:
    with (root / "results/table.csv").open(encoding="utf-8") as file:
        rows = {(r[0], r[1]): tuple(r[2:]) for r in list(csv.reader(file))[1:]}
    golden = _expected()
    for learner, (who, name) in made.items():
        assignment = course.assignment(name)
        if (who, name) in golden:
            right = golden[who, name]
            if assignment.quiz is not None and assignment.quiz.draw == "learner":
                # another learner's questions: right or wrong, a person decides
                right = ("graded", "", right[2], "", "")
            if rows[learner, name] != right:
                yield f"{who} {name}: {rows[learner, name]}"
            continue
        lab = course.labs[assignment.lab or ""]
        path = lab.solution / "attempts" / f"{who.removeprefix(f'{lab.name}-')}.py"
        verdict = read(root / "results" / learner / f"{name}.json")
        yield from (
            f"{who}: {said}" for said in attempts.differences(attempts.expected(course, lab, path), verdict)
        )


def _quarters(series: list[int]) -> tuple[int, int]:
    """The medians of the first and the last quarter, the start apart: the first hand-ins load libraries."""
    settled = series[len(series) // 10 :]
    quarter = max(1, len(settled) // 4)
    return round(statistics.median(settled[:quarter])), round(statistics.median(settled[-quarter:]))
