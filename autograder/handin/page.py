"""What the judge writes under a check cell: points and reasons for the learner, and apart from it what graders see."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_output

from autograder.handin import inert
from autograder.learner.show import pointer, sentence
from autograder.verdict import UNSCORED, Part, PartStatus

GRADERS = {"shardlab": {"audience": "graders"}}
"""Metadata of an output that may show the key: feedback drops it."""

JUDGE = '<div class="judge">'
"""How the judge's own words begin, and no output of a learner."""

_MARK = {PartStatus.PASSED: "✓", PartStatus.PARTIAL: "◐", PartStatus.PENDING: "…", PartStatus.BLOCKED: "…"}
# Okabe and Ito's colours, safe for colour-blind eyes; sign and word say the same
_BAR = {PartStatus.PASSED: "#0072b2", PartStatus.PARTIAL: "#e69f00"}
_BAR |= dict.fromkeys((PartStatus.MISSING, PartStatus.PENDING, PartStatus.BLOCKED), "#8c8c8c")


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
    made = [new_output("display_data", {"text/html": f"{JUDGE}{rows}</div>", "text/plain": lines})]
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
    title, texts = "", [part.reason]
    if belief:
        title = f" <em>“{html.escape(belief.name)}”</em>"
        see = pointer(belief.see, part.id.split("/")[0])
        # The reason often names and refutes the belief already.
        texts[0] = part.reason.removeprefix(f"“{belief.name}”.").strip()
        texts += [text for text in (belief.refutation, see) if text not in texts[0]]
    told = "".join(
        f'<div style="white-space:pre-line;margin-top:.15em">{sentence(text)}</div>' for text in texts if text
    )
    return (
        f'<div style="border-left:4px solid {_BAR.get(part.status, "#d55e00")};padding:.2em .6em;margin:.4em 0">'
        f'<span aria-hidden="true">{_MARK.get(part.status, "✗")}</span> <code>{html.escape(part.id)}</code> '
        f"<strong>{part.status.value}</strong> ({_points(part)}){title}{told}</div>"
    )


def _line(part: Part, beliefs: Mapping[str, Belief]) -> str:
    belief = beliefs.get(part.misconception or "")
    told = (
        f"\n    {belief.name}: {belief.refutation}" if belief and belief.refutation not in part.reason else ""
    )
    return (
        f"{_MARK.get(part.status, '✗')} {part.id} {part.status.value} ({_points(part)}) {part.reason}{told}"
    )
