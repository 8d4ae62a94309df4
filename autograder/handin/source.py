"""The course's own notebook of an assignment: the one place keys, points and locked cells are read from."""

from __future__ import annotations

import copy
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder import stub
from autograder.judge import region
from autograder.tomlfile import ContentError

TEXT_STUB = "YOUR ANSWER HERE"
"""What stands in a hand-graded cell until something is written."""


class SourceError(ContentError):
    """The course's own notebook cannot be used: our fault, never the learner's."""


@dataclass(frozen=True)
class SourceCell:
    """One cell with a grade id. `shown` is its text as released, `hidden` the text of its hidden-test regions,
    `kind` one of locked, check (its `exercise` is judged), task (a lab's), answer, essay.
    """

    grade_id: str
    kind: str
    shown: str
    hidden: str
    exercise: str
    points: float
    node: NotebookNode

    def cell(self) -> NotebookNode:
        """A fresh cell as it is released: no solution, no region, no outputs."""
        made = copy.deepcopy(self.node)
        made.source = self.shown
        return made


@dataclass(frozen=True)
class Source:
    """An assignment's own notebook. `order` lists its grade ids; `prose` the texts of its unmarked markdown cells."""

    name: str
    notebook: NotebookNode
    cells: dict[str, SourceCell]
    prose: frozenset[str]

    @property
    def order(self) -> list[str]:
        return list(self.cells)

    @property
    def graded(self) -> list[SourceCell]:
        """The cells that carry points, in order."""
        return [cell for cell in self.cells.values() if cell.kind in ("check", "task", "essay")]

    @property
    def max_score(self) -> float:
        return sum(cell.points for cell in self.graded)


def read(path: Path) -> Source:
    """The notebook at `path` (an Assignment's `notebook`). Raises SourceError, saying what to run."""
    try:
        stat = path.stat()
    except OSError as error:
        raise SourceError(f"{path} is not there; run `shardlab build` in a checkout of the course") from error
    return _read(path, stat.st_mtime_ns, stat.st_size)


@functools.lru_cache(maxsize=64)
def _read(path: Path, _mtime: int, _size: int) -> Source:
    try:
        return parse(path.stem, nbformat.reads(path.read_text(encoding="utf-8"), as_version=4))
    except (ValueError, KeyError, nbformat.ValidationError) as error:
        raise SourceError(f"{path}: {error}; run `shardlab build`") from error


def parse(name: str, notebook: NotebookNode) -> Source:
    """The instructor notebook of the assignment `name`, taken apart. Raises ValueError or KeyError where a cell's
    marks do not fit it.
    """
    marked = [_marked(cell) for cell in notebook.cells if cell.metadata.get("nbgrader")]
    cells = {cell.grade_id: cell for cell in marked}
    if len(cells) != len(marked):
        raise ValueError("two cells have the same grade id")
    prose = frozenset(
        c.source for c in notebook.cells if c.cell_type == "markdown" and not c.metadata.get("nbgrader")
    )
    return Source(name, notebook, cells, prose)


def _marked(cell: NotebookNode) -> SourceCell:
    marks: dict[str, Any] = cell.metadata["nbgrader"]
    shown, hidden = region.split(cell.source)
    name = str(marks["grade_id"])
    if marks.get("solution"):
        kind = "essay" if marks.get("grade") else "answer"
        shown = released(cell.source, cell.cell_type)
    elif marks.get("grade"):
        kind = "check" if hidden.strip() else "task"
    else:
        kind = "locked"
    exercise = (region.exercise_of(shown) or "") if kind == "check" else ""
    if kind == "check" and not exercise:
        raise ValueError(f"{name}: a check cell submits something")
    node = copy.deepcopy(cell)
    if node.cell_type == "code":
        node.outputs, node.execution_count = [], None
    return SourceCell(name, kind, shown, hidden, exercise, float(marks.get("points") or 0), node)


def released(source: str, cell_type: str) -> str:
    """What a learner gets of an answer cell with this instructor source. Raises ValueError where a code cell holds
    no solution region, since its stub would be the answer.
    """
    if cell_type == "markdown":
        return TEXT_STUB
    if not stub.has_region(source):
        raise ValueError(f"an answer cell holds no `{stub.BEGIN}`: {source[:80]!r}")
    return stub.strip(source)
