"""Rebuilds a handed-in notebook out of what is trusted: our cells by grade id, the learner's texts as text.

Nothing of the hand-in is taken over but cell texts, cell kinds, their order and pasted pictures: outputs, metadata,
ids, the kernel's name and format numbers are ours.
"""

from __future__ import annotations

import copy
import re
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.handin import inert
from autograder.handin.source import Source, SourceCell
from autograder.judge import region

KINDS = ("code", "markdown", "raw")
CELLS_MOST = 2000
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def canonical(handed_in: dict[str, Any], source: Source) -> tuple[NotebookNode, list[str]]:
    """The notebook that is graded, and notes of what was repaired. `handed_in` is JSON with a list of cells."""
    notes: list[str] = []
    placed: dict[str, NotebookNode] = {}
    cells: list[NotebookNode] = []
    ids = {cell.node.get("id"): name for name, cell in source.cells.items()}
    for number, raw in enumerate(handed_in["cells"][:CELLS_MOST]):
        if not isinstance(raw, dict) or raw.get("cell_type") not in KINDS:
            notes.append(f"cell {number + 1} is no cell and was ignored")
            continue
        text = _source(raw)
        own_id = raw.get("id")
        name = grade_id(raw) or (ids.get(own_id, "") if isinstance(own_id, str) else "")
        known = source.cells.get(name)
        if known is not None and name not in placed:
            made = _ours(known, raw, text, notes)
            placed[name] = made
        elif known is not None and _unchanged(known, text) and known.kind in ("check", "task", "locked"):
            notes.append(f"cell {name} stood twice: the first, with our source, counts")
            continue
        else:
            if known is not None:
                notes.append(
                    f"cell {name} stood twice: the first counts, the copy was run as an ordinary cell"
                )
            elif name:
                notes.append(
                    f"cell {plain(name)} is none of this notebook: run as an ordinary cell, worth nothing"
                )
            made = _theirs(raw, text, number, source, notes)
        cells.append(made)
    if len(handed_in["cells"]) > CELLS_MOST:
        notes.append(f"only the first {CELLS_MOST} cells were read")
    _restore(cells, placed, source, notes, told=bool(handed_in["cells"]))
    notebook = copy.deepcopy(source.notebook)
    notebook.cells = cells
    return notebook, notes


def grade_id(raw: Any) -> str:
    """The grade id a handed-in cell claims, empty when it claims none."""
    name = _marks(raw).get("grade_id")
    return name if isinstance(name, str) else ""


def length(cells: list[Any]) -> int:
    """Characters in the texts of handed-in cells."""
    return sum(len(_source(raw)) for raw in cells[:CELLS_MOST] if isinstance(raw, dict))


def plain(text: str) -> str:
    """A learner's short text, fit for a note: one line, no control characters, not long."""
    return _CONTROL.sub("", text).replace("\n", " ")[:80].encode("utf-8", "replace").decode()


def _ours(known: SourceCell, raw: dict[str, Any], text: str, notes: list[str]) -> NotebookNode:
    made = known.cell()
    if raw["cell_type"] != made.cell_type:
        notes.append(f"cell {known.grade_id} had become a {raw['cell_type']} cell: read as {made.cell_type}")
    claimed = _marks(raw).get("points", known.points)
    if known.kind != "answer" and claimed != known.points and known.points:
        notes.append(f"cell {known.grade_id} claimed {plain(str(claimed))} points: ours count")
    if known.kind in ("answer", "essay"):
        made.source = _without_region(text, known.grade_id, notes)
        if known.kind == "essay":
            _clean(made, raw)
    elif not _unchanged(known, text):
        notes.append(f"cell {known.grade_id} was changed: our source counts")
    return made


def _theirs(raw: dict[str, Any], text: str, number: int, source: Source, notes: list[str]) -> NotebookNode:
    made: NotebookNode
    if raw["cell_type"] == "code":
        made = new_code_cell(_without_region(text, f"number {number + 1}", notes))
    elif raw["cell_type"] == "markdown":
        made = new_markdown_cell(text)
        if text not in source.prose:
            _clean(made, raw)
    else:
        made = new_markdown_cell(inert.preformatted(text))  # a raw cell would go to the page as it is
    made["id"] = f"handin-{number}"
    return made


def _clean(cell: NotebookNode, raw: dict[str, Any]) -> None:
    if cell.source.strip() and cell.cell_type == "markdown":
        cell.source = inert.markdown(cell.source)
    pictures = inert.attachments(raw.get("attachments"))
    if pictures:
        cell["attachments"] = pictures


def _without_region(text: str, where: str, notes: list[str]) -> str:
    """A hidden-test region in a learner's cell is nobody's test: it is taken out and told."""
    if region.BEGIN not in text and region.END not in text:
        return text
    notes.append(f"cell {where} held a hidden-test region: ignored, only the course's own regions count")
    return region.split(text)[0]


def _restore(
    cells: list[NotebookNode],
    placed: dict[str, NotebookNode],
    source: Source,
    notes: list[str],
    *,
    told: bool,
) -> None:
    """Puts back every cell of ours that is missing, after the one of ours that stands before it."""
    at = 0
    for name, known in source.cells.items():
        if name in placed:
            at = next(i for i, cell in enumerate(cells) if cell is placed[name]) + 1
            continue
        made = known.cell()
        placed[name] = made
        cells.insert(at, made)
        at += 1
        if told:
            notes.append(f"cell {name} was missing: put back")


def _marks(raw: Any) -> dict[str, Any]:
    metadata = raw.get("metadata") if isinstance(raw, dict) else None
    marks = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return marks if isinstance(marks, dict) else {}


def _source(raw: dict[str, Any]) -> str:
    found = raw.get("source", "")
    text = "".join(str(part) for part in found) if isinstance(found, list) else str(found)
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")
    return text.encode("utf-8", "replace").decode()


def _unchanged(known: SourceCell, text: str) -> bool:
    return _bare(text) in (_bare(known.shown), _bare(known.node.source))


def _bare(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().split("\n"))
