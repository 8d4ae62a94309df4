"""Archives handed in, the evidence of verdicts, and replay: on a course of the real shape, in a real box."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import msgspec
import pytest

from autograder import verdict as verdicts
from autograder.content import Course
from autograder.engine import replay
from autograder.engine.notebook import grade_notebook
from autograder.intake.names import REFUSED
from autograder.notebooks import gradebook
from autograder.report import replaying
from autograder.sandbox import in_force
from autograder.verdict import PartStatus, Status, Verdict
from tests.intake.hostile import tarred, zipped
from tests.notebooks import tiny


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return tiny.lay_out(tmp_path / "course")


def grade(course: Course, folder: Path, seed: bytes | None = None) -> Verdict:
    assignment = course.assignment("level-0")
    return grade_notebook(course, assignment, folder.parent.name, folder, sandboxed=True, run="r", seed=seed)[
        0
    ]


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_an_archive_is_unpacked_for_grading_and_left_as_it_is(course: Course) -> None:
    content = json.dumps(tiny.filled(course)).encode()
    plainly = grade(course, tiny.hand_in(course, "plain", content))
    made = {
        "flat.zip": zipped(("level-0.ipynb", content)),
        "folder.tar.gz": tarred(("my work/level-0/level-0.ipynb", content), ("my work/lab/lab.py", b"")),
        "twice.zip": zipped(("inner.zip", zipped(("level-0.ipynb", content)))),
    }
    for name, archive in made.items():
        folder = tiny.hand_in(course, name.partition(".")[0], archive, name)
        before = files(folder)
        verdict = grade(course, folder)
        assert [p.status for p in verdict.parts] == [p.status for p in plainly.parts], name
        assert verdict.submission == plainly.submission and verdict.notes[0] == f"{name} was unpacked"
        assert files(folder) == before


def test_a_hostile_archive_is_rejected_worth_nothing_and_entered(course: Course) -> None:
    inner = zipped(("level-0.ipynb", b"x"))
    for _ in range(3):
        inner = zipped(("inner.zip", inner), compressed=False)
    for student, content in {"up": zipped(("../level-0.ipynb", b"x")), "deep": inner}.items():
        folder = tiny.hand_in(course, student, content, "work.zip")
        verdict, notebook = grade_notebook(
            course, course.assignment("level-0"), student, folder, sandboxed=True, run="r"
        )
        assert verdict.status is Status.REJECTED and verdict.score == 0 and "hand in again" in verdict.reason
        entered = gradebook.record(course.root, student, "level-0", verdict, notebook)
        assert entered.status is Status.REJECTED and entered.score == 0
        page = gradebook.feedback(course.root, student, "level-0").read_text()
        assert "refused before anything ran" in page
        assert verdict.evidence["seed"] not in page
    folder = tiny.hand_in(course, "big", b"<b>too</b>\nmuch", REFUSED)
    verdict = grade(course, folder)
    assert verdict.status is Status.REJECTED and "<b>too</b> much" in verdict.reason


def test_evidence_is_complete_and_the_seed_stays_with_graders(course: Course) -> None:
    folder = tiny.hand_in(course, "ada", tiny.filled(course, ans_0_1="size = '1 GB'"))
    verdict, notebook = grade_notebook(
        course, course.assignment("level-0"), "ada", folder, sandboxed=True, run="r"
    )
    found = verdict.evidence
    assert found["commitment"] == hashlib.sha256(bytes.fromhex(found["seed"])).hexdigest()
    assert set(found["versions"]) == {"shardlab", "python", "numpy", "torch", "kernel"}
    assert all(found["versions"][name] for name in ("shardlab", "python", "numpy", "kernel"))
    assert found["box"] == in_force.facts() and found["box"]["bubblewrap"]
    assert found["limits"] == msgspec.to_builtins(course.limits) and len(found["files"]) == 64
    entered = gradebook.record(course.root, "ada", "level-0", verdict, notebook)
    assert entered.evidence == found and entered.engine == "local" and entered.device == "cpu"
    gradebook.feedback(course.root, "ada", "level-0")
    for place in ("feedback", "exercises", "autograded", "submitted"):
        for path in (course.root / place).rglob("*"):
            assert path.is_dir() or found["seed"].encode() not in path.read_bytes(), path
    other = grade(course, folder)
    assert other.evidence["seed"] != found["seed"]


def test_verdicts_of_before_can_still_be_read(tmp_path: Path) -> None:
    path = tmp_path / "level-0.json"
    old = {
        "student": "ada",
        "assignment": "level-0",
        "status": "absent",
        "score": None,
        "max_score": 9.0,
        "schema": 1,
    }
    path.write_text(json.dumps(old))
    assert verdicts.read(path).evidence == {}


HAND_INS = {
    "right": {},
    "wrong": {
        "ans_0_1": "size = '104.3 GB'",
        "ans_0_1b": "def area(width, height):\n    return width + height",
    },
    "crashing": {"ans_0_1": "import os\nos._exit(3)", "ans_0_2": "pick = 1 / 0"},
}


@pytest.mark.parametrize("name", HAND_INS)
def test_a_replay_is_the_same(name: str, course: Course) -> None:
    folder = tiny.hand_in(course, name, tiny.filled(course, **HAND_INS[name]))
    path = verdicts.write(grade(course, folder), course.root / "results")
    before = verdicts.read(path)
    again = replay.replay(course, before, folder, sandboxed=True)
    assert replay.differences(before, again) == [] and again.evidence["seed"] == before.evidence["seed"]
    assert [part.evidence for part in again.parts] == [part.evidence for part in before.parts]
    assert replaying.run(course, path, sandboxed=True) == 0


def test_a_changed_verdict_another_hand_in_and_another_key_are_found(
    course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tiny.hand_in(course, "ada", tiny.filled(course, ans_0_2="pick = 'c'", essay_0_3="My words."))
    honest = grade(course, folder)
    results = course.root / "results"

    def said(verdict: Verdict, code: int) -> str:
        assert replaying.run(course, verdicts.write(verdict, results), sandboxed=True) == code
        return capsys.readouterr().out

    parts = [
        msgspec.structs.replace(p, score=p.max_score, status=PartStatus.PASSED) if p.id == "0.2/pick" else p
        for p in honest.parts
    ]
    told = said(msgspec.structs.replace(honest, parts=tuple(parts)), 1)
    assert "0.2/pick: score: 2 of 2 in the verdict, 0 of 2 in the replay" in told
    told = said(msgspec.structs.replace(honest, evidence={**honest.evidence, "seed": "00" * 16}), 1)
    assert "not of this seed" in told
    essay = [
        msgspec.structs.replace(p, score=2.0, status=PartStatus.PARTIAL) if p.id == "0.3/essay" else p
        for p in honest.parts
    ]
    graded = msgspec.structs.replace(honest, parts=tuple(essay), score=verdicts.total(essay))
    assert "the same" in said(graded, 0)
    keyed = [msgspec.structs.replace(p, key="0" * 64) if p.key else p for p in honest.parts]
    assert "the key has changed since" in said(msgspec.structs.replace(honest, parts=tuple(keyed)), 1)
    path = results / "ada/level-0.json"
    path.write_text(path.read_text().replace('"status": "graded"', '"status": "absent"'))
    assert replaying.run(course, path, sandboxed=True) == 1
    (folder / "more.txt").write_text("x")
    assert "other files" in said(honest, 1)
