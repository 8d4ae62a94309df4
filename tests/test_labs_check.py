"""`shardlab check` and `shardlab hint`: the learner's own loop, in a working copy of their own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.content import Course
from autograder.report import labs
from autograder.start import start
from autograder.tomlfile import ContentError

SHARDLAB = Path(sys.executable).with_name("shardlab")
LAB = "lab-ring_collectives"


@pytest.fixture(scope="module")
def mine(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("check") / "mine"
    start(course, folder)
    return folder


def _check(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SHARDLAB, "check", *words], cwd=cwd, capture_output=True, text=True, check=False)


def _write(course: Course, mine: Path, name: str) -> None:
    shutil.copyfile(course.labs["ring_collectives"].solution / name, mine / LAB / "lab.py")


def test_untouched_is_not_written_yet(mine: Path) -> None:
    ran = _check("ring_collectives", cwd=mine)
    assert ran.returncode == 1, ran.stderr
    assert ran.stdout.count("not written yet") == 3
    assert "shardlab hint ring_all_gather" in ran.stdout


def test_right_passes_from_inside_the_folder(course: Course, mine: Path) -> None:
    _write(course, mine, "solution.py")
    ran = _check("lab.py", cwd=mine / LAB)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "3 of 3 tasks pass, 10 of 10 points" in ran.stdout


def test_a_mistake_is_named_and_a_hang_is_a_picture(course: Course, mine: Path) -> None:
    _write(course, mine, "attempts/wrong_send_then_receive.py")
    ran = _check("ring_collectives", cwd=mine)
    assert ran.returncode == 1
    said = " ".join(ran.stdout.split())
    assert "circle: rank 0 → rank 1" in said
    assert course.labs["ring_collectives"].mistakes["send-then-receive"].what.split(":")[0].strip() in said


def test_hints_come_one_at_a_time(course: Course) -> None:
    hints = course.labs["ring_collectives"].tasks[0].hints
    first = labs.hint(course, "ring_all_gather", 1)
    assert hints[0].strip() in first and hints[1].strip() not in first
    assert "shardlab hint ring_all_gather 2" in first
    assert "Next" not in labs.hint(course, "ring_all_gather", len(hints))
    with pytest.raises(ContentError, match=f"has hints 1 to {len(hints)}"):
        labs.hint(course, "ring_all_gather", len(hints) + 1)
    with pytest.raises(ContentError, match=r"there are .*ring_all_gather"):
        labs.hint(course, "ring_all", 1)


@pytest.mark.parametrize(
    ("name", "below"),
    [
        ("", LAB),
        ("ring_collectives", ""),
        ("ring_collectives", LAB),
        (LAB, ""),
        ("lab.py", LAB),
        (LAB + "/lab.py", ""),
    ],
)
def test_the_lab_is_found_from_where_one_is(course: Course, mine: Path, name: str, below: str) -> None:
    lab, lab_py = labs.find(course, name, mine / below)
    assert lab.name == "ring_collectives"
    assert lab_py == mine / LAB / "lab.py"


def test_the_only_lab_below_needs_no_name_and_several_do(course: Course, mine: Path, tmp_path: Path) -> None:
    shutil.copytree(mine / LAB, tmp_path / LAB)
    assert labs.find(course, "", tmp_path)[1] == tmp_path / LAB / "lab.py"
    with pytest.raises(ContentError, match=r"name a lab: .*ring_collectives"):
        labs.find(course, "", mine)


@pytest.mark.parametrize(
    ("name", "said"),
    [("ring", "no lab 'ring'"), ("", "name a lab"), ("ring_collectives", "see `shardlab start`")],
)
def test_a_lab_that_is_not_there_is_told(course: Course, tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(ContentError, match=said):
        labs.find(course, name, tmp_path)
