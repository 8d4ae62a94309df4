"""A lab graded twice with one seed: the same inputs, the same verdict, the same record of the switch."""

from __future__ import annotations

import random
from pathlib import Path

import msgspec
import pytest

from autograder import course as courses
from autograder.content import Course
from autograder.engine import replay
from autograder.engine.lab import grade_lab
from autograder.engine.notebook import grade_notebook
from autograder.judge.switch import End, Outcome, Trace
from autograder.judge.switch.trace import Call
from autograder.verdict import Status

COURSE = courses.load(Path(__file__).parents[2])
RING = COURSE.labs["ring_collectives"]
CRASHES = """
import os
import torch.distributed as dist

def ring_all_gather(shard, group):
    if dist.get_rank() == dist.get_world_size() - 1:
        os._exit(3)
    out = shard.clone()
    for _ in range(50):
        dist.isend(shard, (dist.get_rank() + 1) % dist.get_world_size())
    dist.recv(out)
    return out
"""


def short(course: Course) -> Course:
    """The course with a lab of one task and three cases."""
    task = msgspec.structs.replace(RING.tasks[0], case=RING.tasks[0].case[:3])
    lab = msgspec.structs.replace(RING, tasks=(task,))
    return msgspec.structs.replace(course, labs={"ring_collectives": lab})


def hand_in(folder: Path, text: str) -> Path:
    place = folder / "ada" / RING.assignment
    place.mkdir(parents=True)
    (place / "lab.py").write_text(text)
    return place


@pytest.mark.parametrize("name", ["solution.py", "wrong", "crashes"])
def test_a_lab_is_replayed_the_same(name: str, tmp_path: Path) -> None:
    solution = (RING.solution / "solution.py").read_text()
    wrong = sorted((RING.solution / "attempts").glob("wrong_*.py"))[0].read_text()
    folder = hand_in(tmp_path, {"solution.py": solution, "wrong": wrong, "crashes": CRASHES}[name])
    course = short(COURSE)
    assignment = course.assignment(RING.assignment)
    before, _ = grade_notebook(course, assignment, "ada", folder, sandboxed=True, run="r")
    assert before.status is Status.GRADED and len(before.evidence["switch"]) == 64
    assert before.evidence["limits"]["seconds"] == RING.limits.seconds
    for _ in range(2):
        again = replay.replay(course, before, folder, sandboxed=True)
        assert replay.differences(before, again) == []


def test_the_seed_decides_the_inputs(tmp_path: Path) -> None:
    folder = hand_in(
        tmp_path, "def ring_all_gather(shard, group):\n    print(shard.tolist())\n    return shard * 0\n"
    )
    course = short(COURSE)
    lab = course.labs["ring_collectives"]
    seeds = (b"1" * 16, b"1" * 16, b"2" * 16)
    made = [
        grade_lab(course, lab, "ada", folder / "lab.py", sandboxed=True, run="r", seed=seed)
        .parts[0]
        .evidence["printed"]
        for seed in seeds
    ]
    assert made[0] == made[1] != made[2]


def call(rank: int, seq: int, order: int) -> Call:
    return Call(rank, seq, "send", (0, 1, 2), 8, 0, "float32", None, 1, None, 0, (), True, order, None, None)


@pytest.mark.parametrize("how", ["done", "raised", "crashed"])
def test_the_record_does_not_depend_on_who_was_faster(how: str) -> None:
    """Ranks in any order; a rank that others ended, however far it had come."""
    rng = random.Random(0)
    ends = (End("done"), End(how), End("done" if how == "done" else "raised"))
    derived = frozenset() if how == "done" else frozenset({2})
    made = set()
    for _ in range(20):
        came = 4 if how == "done" else rng.randrange(5)
        calls = [(0, seq) for seq in range(1, came + 1)] + [(1, seq) for seq in range(1, 4)]
        calls += [(2, seq) for seq in range(1, came + 1)]
        rng.shuffle(calls)
        trace = Trace(tuple(call(rank, seq, order) for order, (rank, seq) in enumerate(calls)))
        made.add(Outcome("ended", "", "", ends, derived, trace, 0.1).digest())
    assert len(made) == 1
    other = Trace(tuple(call(1, seq, seq) for seq in range(1, 3)))
    assert Outcome("ended", "", "", ends, derived, other, 0.1).digest() not in made
