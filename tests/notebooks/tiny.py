"""A tiny course of the real shape: one notebook with two checks and an essay, and hand-ins made from its release."""

from __future__ import annotations

import atexit
import contextlib
import copy
import functools
import json
import os
import shutil
import subprocess
import tempfile
import textwrap
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat import NotebookNode

from autograder import course
from autograder.content import Course
from autograder.notebooks import gradebook

COURSE_TOML = """
title = "tiny"
order = ["level-0"]
[limits]
cell_seconds = 3.0
notebook_seconds = 40.0
function_seconds = 1.0
memory_mib = 1024
output_kib = 64
"""
MISCONCEPTIONS = """
[[misconception]]
id = "gib-for-gb"
name = "GiB read as GB"
refutation = "A GB is 10^9 bytes; a GiB is 2^30 bytes."
see = "level 0"
"""
CANARY = "7770000001"
"""Stands in the key and nowhere else."""

_MARKS = {"schema_version": 3, "task": False}


def _code(
    name: str, text: str, *, grade: bool = False, solution: bool = False, points: float = 0
) -> NotebookNode:
    cell = nbformat.v4.new_code_cell(textwrap.dedent(text).strip())
    marks = {**_MARKS, "grade_id": name, "grade": grade, "solution": solution, "locked": not solution}
    cell.metadata["nbgrader"] = {**marks, "points": points} if grade else marks
    cell["id"] = name
    return cell


def _prose(name: str, text: str) -> NotebookNode:
    cell = nbformat.v4.new_markdown_cell(text)
    cell["id"] = name
    return cell


def instructor() -> NotebookNode:
    """The course's own notebook: 4 + 2 points by the judge, 3 by a person."""
    essay = _prose("essay-0-3", "a model answer")
    essay.metadata["nbgrader"] = {
        **_MARKS,
        "grade_id": "essay-0-3",
        "grade": True,
        "solution": True,
        "locked": False,
        "points": 3,
    }
    made = nbformat.v4.new_notebook(
        cells=[
            _prose("head", "# Level 0 with $a < b$"),
            _code("ro-setup", "from autograder import submit"),
            _code("ans-0-1", "### BEGIN SOLUTION\nsize = '112 GB'\n### END SOLUTION"),
            _code(
                "ans-0-1b",
                """
                def area(width, height):
                    ### BEGIN SOLUTION
                    return width * height
                    ### END SOLUTION
                """,
            ),
            _code(
                "ex-0-1",
                f"""
                submit("0.1", size=size, area=area)
                ### BEGIN HIDDEN TESTS
                expect.quantity("size", "112 GB", wrong={{"104.3 GB": "gib-for-gb"}})
                expect.function("area", like=lambda width, height: width * height,
                                given={{"width": draw.integers(1, {CANARY}), "height": draw.integers(1, 9)}})
                ### END HIDDEN TESTS
                """,
                grade=True,
                points=4,
            ),
            _code("ans-0-2", "### BEGIN SOLUTION\npick = 'b'\n### END SOLUTION"),
            _code(
                "ex-0-2",
                """
                submit("0.2", pick=pick)
                ### BEGIN HIDDEN TESTS
                expect.choice("pick", "b", among=["a", "b", "c"])
                ### END HIDDEN TESTS
                """,
                grade=True,
                points=2,
            ),
            essay,
        ],
        metadata={"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
    )
    for cell in made.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id", "").startswith("ans"):
            cell.metadata["nbgrader"].update(solution=True, locked=False)
    return made


@functools.cache
def template() -> Path:
    """The course, generated once a test run: making a gradebook takes nbgrader seconds."""
    root = Path(tempfile.mkdtemp(prefix="shardlab-tiny-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    _write(root)
    gradebook.generate(root, ["level-0"])
    return root


def lay_out(root: Path) -> Course:
    """The course in the new folder `root`, its release and gradebook made by nbgrader."""
    shutil.copytree(template(), root)
    return course.load(root)


def _write(root: Path) -> None:
    (root / "quizbank").mkdir(parents=True)
    (root / "solutions/notebooks").mkdir(parents=True)
    folder = root / "solutions/exercises/level-0"
    folder.mkdir(parents=True)
    (root / "course.toml").write_text(COURSE_TOML)
    (root / "quizbank/misconceptions.toml").write_text(MISCONCEPTIONS)
    (root / "solutions/notebooks/level-0.py").write_text('# ---\n# title: "Level 0"\n# ---\n')
    nbformat.write(instructor(), folder / "level-0.ipynb")


def released(course_: Course) -> NotebookNode:
    return nbformat.read(course_.assignment("level-0").release / "level-0.ipynb", as_version=4)


RIGHT = {
    "ans-0-1": "size = '112 GB'",
    "ans-0-1b": "def area(width, height):\n    return width * height",
    "ans-0-2": "pick = 'b'",
}


def filled(course_: Course, **answers: str) -> NotebookNode:
    """The released notebook with right answers, but for those given (`ans_0_1=...`)."""
    made = copy.deepcopy(released(course_))
    wanted = {**RIGHT, **{name.replace("_", "-"): text for name, text in answers.items()}}
    for cell in made.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in wanted:
            cell.source = wanted[name]
    return made


def at(notebook: NotebookNode, name: str) -> int:
    """The place of the cell with this grade id."""
    return next(
        i
        for i, cell in enumerate(notebook.cells)
        if cell.metadata.get("nbgrader", {}).get("grade_id") == name
    )


def hand_in(
    course_: Course, student: str, content: NotebookNode | bytes | None, name: str = "level-0.ipynb"
) -> Path:
    """Puts a hand-in below submitted/ and returns its folder."""
    folder = course_.root / "submitted" / student / "level-0"
    folder.mkdir(parents=True, exist_ok=True)
    if isinstance(content, NotebookNode):
        content = json.dumps(content).encode()
    if content is not None:
        (folder / name).write_bytes(content)
    return folder


def nest(folder: Path, request: pytest.FixtureRequest, depth: int = 1200) -> None:
    """Folders in folders below `folder`, deeper than Python recurses and than a path can name; gone after the test."""
    folder.mkdir(parents=True, exist_ok=True)
    # pytest's own clearing up would recurse
    request.addfinalizer(lambda: subprocess.run(["rm", "-rf", str(folder / "deep")], check=True))
    here = os.open(folder, os.O_RDONLY)
    for _ in range(depth):
        os.mkdir("deep", dir_fd=here)
        below = os.open("deep", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def living() -> set[int]:
    """The processes below this one; those that have ended and wait to be buried are none any more."""
    found = set()
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE:
                found.add(process.pid)
    return found
