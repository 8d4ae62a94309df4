"""Lays out a learner's own working copy of the course, so that nobody edits built files in a checkout."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

from autograder.content import Course
from autograder.tomlfile import ContentError

README = """\
# {title}: your working copy

Open it with `jupyter lab .` and begin with `{first}`. Fill in what says `...` or `raise NotImplementedError()`, then
run the `submit(...)` cell below it: you are told at once what is wrong and why.

In a lab folder you write `lab.py`; its README tells the story, the maths and the contract.
"""


def start(course: Course, folder: Path) -> list[str]:
    """Copies every released assignment and lab into `folder` and returns what was added. What is there already is a
    learner's work and stays as it is. Raises ContentError when nothing is released or `folder` is a course itself.
    """
    folder = folder.resolve()
    if folder == course.root or (folder / "course.toml").exists():
        raise ContentError(f"{folder}: this is the course itself; name a new folder for the working copy")
    released = [a for a in course.assignments if a.release.is_dir()]
    if not released:
        raise ContentError(f"{course.root}: nothing is released yet; run `shardlab build`")
    added: list[str] = []
    for assignment in released:
        added += _copy(assignment.release, folder / assignment.name, folder)
        if assignment.lab is not None:
            lab = course.labs[assignment.lab]
            added += _copy(lab.folder, folder / assignment.name, folder)
    readme = folder / "README.md"
    if not readme.exists():
        readme.write_text(README.format(title=course.title, first=released[0].name), encoding="utf-8")
        added.append("README.md")
    return added


_NOT_FOR_LEARNERS = ("checks.py", "__pycache__", ".ipynb_checkpoints")


def _copy(source: Path, target: Path, base: Path) -> list[str]:
    """Copies the files of `source` that `target` lacks. checks.py stays behind: it is the judge's."""
    added = []
    for path in sorted(source.rglob("*")):
        way = path.relative_to(source)
        if not path.is_file() or any(part in _NOT_FOR_LEARNERS for part in way.parts):
            continue
        made = target / way
        if made.exists():
            continue
        made.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, made)
        made.chmod(stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP | stat.S_IROTH)
        added.append(str(made.relative_to(base)))
    return added
