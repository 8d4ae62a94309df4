"""Lays out the sample class as an nbgrader course of its own in a work folder."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from autograder.content import Course
from autograder.sample.handin import HandIn
from autograder.sample.learners import LEARNERS
from autograder.tomlfile import ContentError

_COURSE = ("course.toml", "nbgrader_config.py", "exercises", "gpu_labs", "quizbank", "solutions")
MARK = ".sample-class"
"""Marks a folder as ours, so that laying out again replaces nothing but a former sample class."""


def layout(course: Course, folder: Path, *, learners: tuple[str, ...] = ()) -> Path:
    """Copies the course into `folder`, writes the hand-ins of all sample learners (or of `learners`) below
    `submitted/`, and returns `folder`. A sample class from before is replaced whole. Raises ContentError when
    `folder` holds anything else, or when solutions are not at hand (an installed wheel has none).
    """
    folder = folder.resolve()
    if folder.exists() and any(folder.iterdir()) and not (folder / MARK).exists():
        raise ContentError(f"{folder}: holds something else; name a new folder for the sample class")
    if not (course.root / "solutions/exercises").is_dir():
        raise ContentError(
            f"{course.root}: the sample class is made from the solutions; run this in a checkout"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".sample-") as name:
        made = Path(name) / "class"
        made.mkdir()
        (made / MARK).write_text(
            "made by shardlab grade --sample; replaced whole each time\n", encoding="utf-8"
        )
        for entry in _COURSE:
            source = course.root / entry
            if source.is_dir():
                shutil.copytree(source, made / entry)
            else:
                shutil.copyfile(source, made / entry)
        for learner in LEARNERS:
            if not learners or learner.id in learners:
                _hand_in(course, made / "submitted" / learner.id, learner.id)
        if folder.exists():
            shutil.rmtree(folder)
        made.rename(folder)
    return folder


def _hand_in(course: Course, folder: Path, student: str) -> None:
    learner = next(one for one in LEARNERS if one.id == student)
    for assignment in course.assignments:
        make = learner.hands_in.get(assignment.name)
        if make is None:
            continue
        target = folder / assignment.name
        hand_in = HandIn(course, assignment, target)
        make(hand_in)
        if target.exists():
            (target / "timestamp.txt").write_text("2026-11-02 12:00:00 UTC\n", encoding="utf-8")
