"""grade_lab: every attempt gets the verdict its first line asks for, and nothing handed in stops the batch."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec
import pytest

from autograder import course as courses
from autograder import stub
from autograder.build.attempts import attempts, differences, expected
from autograder.content import Course, Lab
from autograder.engine.lab import grade_lab
from autograder.verdict import PartStatus, Status, Verdict

COURSE = courses.load(Path(__file__).parents[2])
RING = COURSE.labs["ring_collectives"]


def grade(path: Path, lab: Lab = RING, course: Course = COURSE, sandboxed: bool = True) -> Verdict:
    return grade_lab(course, lab, "ada", path, sandboxed=sandboxed, run="test")


def hand_in(folder: Path, text: str) -> Path:
    path = folder / "lab.py"
    path.write_text(text)
    return path


def short(lab: Lab, folder: Path, **limits: float) -> Lab:
    """A copy of a lab that one may break: its own folder, its first task with two cases, other limits."""
    shutil.copytree(lab.folder, folder)
    task = msgspec.structs.replace(lab.tasks[0], case=lab.tasks[0].case[:2])
    changed = msgspec.structs.replace(lab.limits, **limits)
    return msgspec.structs.replace(lab, folder=folder, tasks=(task,), limits=changed)


@pytest.mark.parametrize("path", attempts(RING), ids=lambda path: path.stem)
def test_every_attempt(path: Path) -> None:
    assert not differences(expected(COURSE, RING, path), grade(path))


def test_there_are_attempts_of_each_kind() -> None:
    kinds = [path.stem.partition("_")[0] for path in attempts(RING)]
    assert kinds.count("wrong") >= 6 and kinds.count("cheat") >= 3 and kinds.count("right") >= 2
    assert set(kinds) == {"wrong", "cheat", "right"}
    named = {named for path in attempts(RING) for _, named in expected(COURSE, RING, path).values()}
    # Where every rank has namespaces of its own nothing gets around the ring any more; should it, this is its name.
    assert set(RING.mistakes) - {"around-the-ring"} <= named, "a mistake no attempt shows"


def test_polling_a_receive_of_gloo_never_ends_and_costs_nothing() -> None:
    verdict = grade(RING.solution / "attempts/right_waits_in_any_order.py")
    assert all("not done" in part.evidence["undecided"]["gloo"] for part in verdict.parts)
    solution = grade(RING.solution / "solution.py")
    assert all(
        part.evidence == {"cases": len(task.cases)}
        for part, task in zip(solution.parts, RING.tasks, strict=True)
    )


def test_the_solution_and_the_stub(tmp_path: Path) -> None:
    solution = (RING.solution / "solution.py").read_text()
    full = grade(hand_in(tmp_path, solution))
    assert full.status is Status.GRADED and full.score == full.max_score == 10.0
    assert all(part.key and part.answer and part.reason.startswith("right in all") for part in full.parts)
    empty = grade(hand_in(tmp_path, stub.strip(solution)))
    assert [part.status for part in empty.parts] == [PartStatus.MISSING] * 3 and empty.score == 0


def test_without_a_box_the_verdict_says_so(tmp_path: Path) -> None:
    lab = short(RING, tmp_path / "lab")
    verdict = grade(RING.solution / "solution.py", lab, sandboxed=False)
    assert verdict.score == 3.0 and verdict.sandboxed is False


def test_nothing_handed_in_and_things_that_cannot_be_read(tmp_path: Path) -> None:
    assert grade(tmp_path / "lab.py").status is Status.ABSENT
    target = hand_in(tmp_path, "import os\n")
    link = tmp_path / "link.py"
    link.symlink_to(target)
    pipe = tmp_path / "pipe.py"
    os.mkfifo(pipe)
    large = tmp_path / "large.py"
    large.write_bytes(b"#" * (2 << 20))
    for path in (link, pipe, large, tmp_path):
        verdict = grade(path)
        assert verdict.status is Status.UNGRADABLE and verdict.reason and verdict.score is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def ring_all_gather(shard, group)\n    return shard\n", "lab.py, line 1"),
        ("\x00\x01", "null bytes"),
        ("x = 1\n", "has no attribute 'ring_all_gather'"),
        (
            "def ring_all_gather(shard, group):\n    return 1 // 0\n",
            "lab.py, line 2, in ring_all_gather: return 1 // 0",
        ),
        (
            "def ring_all_gather(shard, group):\n    pass\n",
            "out is None (nothing was returned), expected a tensor",
        ),
    ],
    ids=["syntax", "bytes", "empty", "raises", "none"],
)
def test_code_that_does_not_run_or_returns_something_else(tmp_path: Path, text: str, said: str) -> None:
    verdict = grade(hand_in(tmp_path, text), short(RING, tmp_path / "lab"))
    (part,) = verdict.parts
    assert part.status is PartStatus.FAILED and said in part.reason


def test_a_rank_that_sleeps_is_named(tmp_path: Path) -> None:
    text = "import time\nimport torch.distributed as dist\n\ndef ring_all_gather(shard, group):\n"
    text += "    if dist.get_world_size() == 1:\n        return shard.clone()\n"
    text += "    if dist.get_rank() == 1:\n        time.sleep(600)\n"
    text += "    dist.send(shard, 1) if dist.get_rank() == 0 else None\n    return shard.clone()\n"
    verdict = grade(hand_in(tmp_path, text), short(RING, tmp_path / "lab", seconds=2.0))
    (part,) = verdict.parts
    assert part.status is PartStatus.TIMEOUT
    assert (
        "not done after 2 s" in part.reason and "rank 1: waits for nobody; its own code runs" in part.reason
    )
    assert "to rank 1), which has not called recv for it" in part.reason


def test_forged_outputs_on_the_socket_are_an_answer_like_any_other(tmp_path: Path) -> None:
    """A learner may speak the switch's language by hand: what it then hands in is judged, and the trace is missing."""
    text = """
import json, os, struct, torch, safetensors.torch
import torch.distributed as dist

def ring_all_gather(shard, group):
    out = torch.zeros(shard.numel() * dist.get_world_size(group), dtype=shard.dtype)
    payload = safetensors.torch.save({"out": out, "x": shard})
    header = json.dumps({"op": "end", "how": "done", "values": {}, "score": 3.0}).encode()
    for fd in range(3, 20):
        try:
            os.write(fd, struct.pack("<IQ", len(header), len(payload)) + header + payload)
        except OSError:
            pass
    return out
"""
    (part,) = grade(hand_in(tmp_path, text), short(RING, tmp_path / "lab")).parts
    assert part.status is PartStatus.FAILED and "out is wrong in" in part.reason


def test_a_fault_of_ours_is_blocked_and_costs_nothing(tmp_path: Path) -> None:
    broken = short(RING, tmp_path / "a")
    (broken.folder / "run.py").write_text("raise RuntimeError('no run today')\n")
    careless = short(RING, tmp_path / "b")
    (careless.folder / "checks.py").write_text("def given(*a): return [][0]\ndef judge(*a): return []\n")
    strange = short(RING, tmp_path / "c")
    text = (strange.folder / "checks.py").read_text()
    text += "\n\ndef judge(*a):\n    return [Finding('wrong', 'no-such-mistake')]\n"
    (strange.folder / "checks.py").write_text(text)
    for lab, said in ((broken, "no run today"), (careless, "IndexError"), (strange, "no-such-mistake")):
        verdict = grade(RING.solution / "solution.py", lab)
        assert verdict.status is Status.BLOCKED and verdict.score is None and said in verdict.reason
        assert [part.status for part in verdict.parts] == [PartStatus.BLOCKED]


def test_every_grading_draws_other_inputs(tmp_path: Path) -> None:
    lab = short(RING, tmp_path / "lab")
    path = hand_in(
        tmp_path, "def ring_all_gather(shard, group):\n    print(shard.tolist())\n    return shard * 0\n"
    )
    printed = [grade(path, lab).parts[0].evidence["printed"]["0"] for _ in range(2)]
    assert printed[0] != printed[1]
