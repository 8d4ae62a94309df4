"""The code a learner wrote, out of a hand-in: what is compared when hand-ins are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from autograder.content import Assignment
from autograder.handin import source

LARGEST = 1 << 20


def of(folder: Path, assignment: Assignment) -> str:
    """The text of a hand-in in `folder`: lab.py of a lab, the answer cells of a notebook, one below the other. Empty
    where there is nothing that can be read: what is wrong with such a hand-in, its verdict says.
    """
    if assignment.kind == "lab":
        return _text(folder / "lab.py")
    try:
        cells = json.loads(_text(folder / f"{assignment.name}.ipynb") or "{}").get("cells", [])
    except (ValueError, AttributeError, RecursionError):
        return ""
    wanted = {name for name, cell in source.read(assignment.notebook).cells.items() if cell.kind == "answer"}
    return "\n".join(_joined(cell) for cell in cells if _grade_id(cell) in wanted)


def own(assignment: Assignment, *, solved: bool) -> str:
    """The same text as the course has it: as released, or with the answers."""
    if assignment.kind == "lab":
        folder = assignment.notebook.parent if solved else assignment.release
        return (folder / "lab.py").read_text(encoding="utf-8")
    cells = source.read(assignment.notebook).cells.values()
    return "\n".join(
        str(cell.node.source) if solved else cell.shown for cell in cells if cell.kind == "answer"
    )


def _text(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        return ""
    with path.open("rb") as file:
        return file.read(LARGEST).decode("utf-8", "replace")


def _grade_id(cell: Any) -> str:
    try:
        return str(cell["metadata"]["nbgrader"]["grade_id"])
    except (KeyError, TypeError):
        return ""


def _joined(cell: Any) -> str:
    text = cell.get("source", "")
    return "".join(map(str, text)) if isinstance(text, list) else str(text)
