"""Reads a notebook's text source (jupytext py:percent) and makes nbgrader's instructor notebook of it.

Short cell options are expanded to nbgrader's metadata; cell ids are derived from content, so that building twice
gives the same bytes.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder import stub
from autograder.tomlfile import ContentError

OPTIONS = ("locked", "answer", "check", "essay", "item")
_ID = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
# jupytext's notes on blank lines, which formatters add
_JUPYTEXT = ("lines_to_next_cell", "lines_to_end_of_cell_marker")
_PREFIX = {"locked": "ro", "answer": "ans", "check": "ex", "essay": "essay"}


def grade_id(option: str, name: str) -> str:
    """nbgrader's id of a cell: no dots allowed, so check 2.1 becomes ex-2-1."""
    return f"{_PREFIX[option]}-{name.replace('.', '-')}"


Items = Callable[[str, float], list[NotebookNode]]
"""The cells that ask an item of the bank: (id, points) to question, answer and check. Raises KeyError for no item."""


def read(path: Path, items: Items | None = None) -> NotebookNode:
    """The instructor notebook of the source at `path`. Raises ContentError naming file, line and option.

    `items` makes the cells of an item of the bank; without it the cell that names one stays as it is written.
    """
    try:
        import jupytext  # only authors have it
    except ImportError as error:
        raise ContentError("building needs jupytext: pip install 'shardlab[author]'") from error
    head, text = _split_header(path)
    notebook = jupytext.reads(text, fmt="py:percent")
    lines = [n for n, line in enumerate(text.splitlines(), 1 + head) if line.startswith("# %%")]
    if len(lines) != len(notebook.cells):
        raise ContentError(
            f"{path}:1: every cell starts with `# %%`; text before the first one is not allowed"
        )
    cells = [
        made
        for line, cell in zip(lines, notebook.cells, strict=True)
        for made in _cells(path, line, cell, items)
    ]
    return assemble(cells, str(path))


def assemble(cells: list[NotebookNode], where: str) -> NotebookNode:
    """A notebook of `cells` with derived cell ids and nothing of this machine in its metadata."""
    seen: dict[str, int] = {}
    for cell in cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if not name:
            name = "c-" + hashlib.sha256(cell.source.encode()).hexdigest()[:12]
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            if "nbgrader" in cell.metadata:
                raise ContentError(f"{where}: two cells have the grade id {name!r}")
            name = f"{name}-{seen[name]}"
        cell["id"] = name[:64]
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    made: NotebookNode = nbformat.from_dict(
        {
            "cells": cells,
            "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
    )
    return made


def markdown(source: str, **nbgrader: Any) -> NotebookNode:
    """A markdown cell; with `nbgrader` options it is graded by hand."""
    return _made({"cell_type": "markdown", "source": source}, nbgrader)


def code(source: str, **nbgrader: Any) -> NotebookNode:
    """A code cell without outputs; `nbgrader` is one of the kinds of `metadata`."""
    return _made({"cell_type": "code", "source": source, "outputs": [], "execution_count": None}, nbgrader)


def metadata(option: str, name: str, points: float | None = None) -> dict[str, Any]:
    """nbgrader's cell metadata for a short option: locked, answer, check or essay."""
    graded = option in ("check", "essay")
    made: dict[str, Any] = {
        "grade": graded,
        "grade_id": grade_id(option, name),
        "locked": option in ("locked", "check"),
        "schema_version": 3,
        "solution": option in ("answer", "essay"),
        "task": False,
    }
    if graded:
        made["points"] = points
    return made


def dumps(notebook: NotebookNode) -> bytes:
    """The bytes of a notebook file, as nbformat writes it."""
    nbformat.validate(notebook)
    text: str = nbformat.writes(notebook)
    return text.encode() + b"\n"


def _split_header(path: Path) -> tuple[int, str]:
    """The number of header lines (`# ---` … `# ---`, title and level) and the text after them."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    marks = [n for n, line in enumerate(lines) if line.rstrip() == "# ---"][:2]
    if len(marks) != 2 or marks[0] != 0:
        raise ContentError(f"{path}:1: the file starts with a header between two lines `# ---`")
    return marks[1] + 1, "".join(lines[marks[1] + 1 :])


def _made(cell: dict[str, Any], nbgrader: dict[str, Any]) -> NotebookNode:
    node: NotebookNode = nbformat.from_dict({**cell, "metadata": {"nbgrader": nbgrader} if nbgrader else {}})
    return node


def _cells(path: Path, line: int, cell: NotebookNode, items: Items | None) -> list[NotebookNode]:
    made = _cell(path, line, cell)
    asked = made.metadata.pop("item", None)
    if asked is None or items is None:
        return [made]
    try:
        return [*([made] if made.source.strip() else []), *items(*asked)]
    except KeyError as error:
        raise ContentError(f"{path}:{line}: item: {error} is not in the bank") from error


def _cell(path: Path, line: int, cell: NotebookNode) -> NotebookNode:
    def wrong(what: str) -> ContentError:
        return ContentError(f"{path}:{line}: {what}")

    given = {name: value for name, value in cell.metadata.items() if name not in _JUPYTEXT}
    points = given.pop("points", None)
    kinds = [option for option in OPTIONS if option in given]
    names = {option: str(given.pop(option)) for option in kinds}
    if given:
        raise wrong(f"unknown cell option {', '.join(given)}; there are {', '.join(OPTIONS)} and points")
    if len(kinds) > 1:
        raise wrong(f"a cell is one of {', '.join(kinds)}, not several")
    make = markdown if cell.cell_type == "markdown" else code
    if not kinds:
        if points is not None:
            raise wrong("points go with check, essay or item")
        return make(cell.source)
    kind, name = kinds[0], names[kinds[0]]
    if not _ID.match(name):
        raise wrong(f"{kind}: {name!r} is no id; letters, digits, dot, dash and underscore")
    written = kind in ("essay", "item")
    if written != (cell.cell_type == "markdown"):
        raise wrong(f"{kind} goes with a {'markdown' if written else 'code'} cell")
    graded = kind in ("check", "essay", "item")
    if graded and not (isinstance(points, int | float) and not isinstance(points, bool) and points > 0):
        raise wrong(f"{kind} {name} needs points=, more than 0")
    if not graded and points is not None:
        raise wrong("points go with check, essay or item")
    if kind == "item":
        asked = make(cell.source)
        asked.metadata["item"] = (name, points)
        return asked
    if kind == "answer" and stub.BEGIN not in cell.source:
        raise wrong(f"answer {name} holds no `{stub.BEGIN}`, so its stub would be the answer")
    return make(cell.source, **metadata(kind, name, points))
