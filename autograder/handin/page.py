"""What the judge writes under a check cell: points and reasons for the learner, and apart from it what graders see."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output

from autograder.handin import inert
from autograder.verdict import UNSCORED, Part, PartStatus

GRADERS = {"shardlab": {"audience": "graders"}}
"""Metadata of an output that may show the key: feedback drops it."""

_MARK = {PartStatus.PASSED: "✓", PartStatus.PARTIAL: "◐", PartStatus.PENDING: "…", PartStatus.BLOCKED: "…"}


class Belief(Protocol):
    """A misconception of the quizbank, or a lab's mistake in the same shape."""

    @property
    def name(self) -> str: ...
    @property
    def refutation(self) -> str: ...
    @property
    def see(self) -> str: ...


def outputs(parts: Iterable[Part], beliefs: Mapping[str, Belief]) -> list[NotebookNode]:
    """The outputs of one graded cell. Every text is escaped: reasons may quote the learner."""
    parts = tuple(parts)
    rows = "".join(_row(part, beliefs) for part in parts)
    lines = "\n".join(_line(part, beliefs) for part in parts)
    made = [new_output("display_data", {"text/html": f"<div>{rows}</div>", "text/plain": lines})]
    evidence = {part.id: part.evidence for part in parts if part.evidence}
    if evidence:
        text = "for graders, not in feedback:\n" + json.dumps(
            evidence, indent=1, ensure_ascii=False, default=str
        )
        made.append(new_output("display_data", {"text/plain": text}, metadata=GRADERS))
    return made


def note(text: str) -> NotebookNode:
    """A line of ours among a learner's outputs."""
    made: NotebookNode = new_output("display_data", {"text/plain": text})
    return made


def file_shown(name: str, text: str) -> NotebookNode:
    """A learner's file, to be read and not run."""
    body = f"<details><summary>{html.escape(name)}</summary><pre>{html.escape(text)}</pre></details>"
    made: NotebookNode = new_output("display_data", {"text/html": body, "text/plain": text})
    return made


def tell(notebook: NotebookNode, notes: Sequence[str]) -> None:
    """Puts what was repaired or ignored in a hand-in at the top of its notebook."""
    if notes:
        told = "\n".join(f"- {inert.markdown(note)}" for note in notes)
        cell = new_markdown_cell(f"**About this hand-in**\n\n{told}")
        cell["id"] = "handin-notes"
        notebook.cells.insert(0, cell)


def _points(part: Part) -> str:
    if part.status in UNSCORED or part.score is None:
        return f"– / {part.max_score:g}"
    return f"{part.score:.4g} / {part.max_score:g}"


def _row(part: Part, beliefs: Mapping[str, Belief]) -> str:
    belief = beliefs.get(part.misconception or "")
    more = ""
    if belief:
        see = f" <i>See {html.escape(belief.see)}.</i>" if belief.see else ""
        more = f"<p><b>{html.escape(belief.name)}.</b> {html.escape(belief.refutation)}{see}</p>"
    head = (
        f"{_MARK.get(part.status, '✗')} <b>{html.escape(part.id)}</b> {part.status.value} ({_points(part)})"
    )
    return f"<p>{head}<br>{html.escape(part.reason)}</p>{more}"


def _line(part: Part, beliefs: Mapping[str, Belief]) -> str:
    belief = beliefs.get(part.misconception or "")
    told = f"\n    {belief.name}: {belief.refutation}" if belief else ""
    return (
        f"{_MARK.get(part.status, '✗')} {part.id} {part.status.value} ({_points(part)}) {part.reason}{told}"
    )
