"""Answers in the learner's own words: a person grades them; the judge only sees whether there is one."""

from __future__ import annotations

import hashlib
import json

from nbformat import NotebookNode

from autograder.handin.source import SourceCell
from autograder.verdict import Part, PartStatus, unscored


def part_id(marked: SourceCell) -> str:
    """`1.4/essay` for the cell essay-1-4."""
    return f"{marked.grade_id.removeprefix('essay-').replace('-', '.')}/essay"


def judge(marked: SourceCell, cell: NotebookNode) -> Part:
    """Pending when something was written, missing (and worth 0) when nothing was."""
    text = "".join(cell.source.split())
    pasted = json.dumps(cell["attachments"], sort_keys=True) if cell.get("attachments") else ""
    answer = hashlib.sha256((cell.source + pasted).encode()).hexdigest()
    if (not text and not cell.get("attachments")) or text == "".join(marked.shown.split()):
        return unscored(
            part_id(marked), PartStatus.MISSING, marked.points, "Nothing was written.", answer=answer
        )
    return unscored(part_id(marked), PartStatus.PENDING, marked.points, "Waits for a person.", answer=answer)
