"""What a learner sees of the graded notebook: reasons, never keys, on a page that needs no network."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.api import Gradebook
from nbgrader.preprocessors.base import NbGraderPreprocessor

from autograder.handin.page import GRADERS, JUDGE
from autograder.judge import region
from autograder.notebooks import maths

STYLE = """<style>
.rendered_html table { border-collapse: collapse; margin: .8em 0; }
.rendered_html th, .rendered_html td { border-bottom: 1px solid #ddd; padding: .3em .8em; vertical-align: top; }
.rendered_html thead tr:has(th:empty) { display: none; }
.rendered_html summary { display: list-item; cursor: pointer; }
.rendered_html h1, .rendered_html h2 { margin-top: 1.2em; }
.rendered_html h2 { font-size: 24px; }
.anchor-link, .prompt { display: none; }
.judge { line-height: 1.5; margin: .5em 0 1.5em; }
</style>"""
"""What nbgrader's page leaves to the browser, which then draws tables without borders."""

DOLLARS_MOST = 1000
"""`$` in a page whose formulas are set: each formula takes a hundredth of a second and more."""

WAITS = "Not graded yet: this part waits for a person, and the score above does not count it."


class ForLearners(NbGraderPreprocessor):
    """Takes out of a graded notebook what only graders may see: hidden-test regions, and outputs marked for them.
    Sets formulas, tells what waits for a person, and dresses the page.
    """

    _formulas = True

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        self._formulas = (
            sum(c.source.count("$") for c in nb.cells if c.cell_type == "markdown") <= DOLLARS_MOST
        )
        nb, resources = super().preprocess(nb, resources)  # type: ignore[no-untyped-call]
        waiting = _waiting(resources["nbgrader"])
        for cell in nb.cells:
            marks = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "markdown" and marks.get("grade_id") in waiting and not marks.get("comment"):
                marks["comment"] = WAITS
            if cell.cell_type == "code" and marks.get("comment") == "No response.":
                del marks["comment"]  # the judge says so below, part by part
        nb.cells.insert(0, new_markdown_cell(STYLE))
        return nb, resources

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        if cell.cell_type == "code":
            cell.source = region.split(cell.source)[0].rstrip("\n")
            cell.outputs = [
                o for o in cell.outputs if o.get("metadata", {}).get("shardlab") != GRADERS["shardlab"]
            ]
            for data in (o["data"] for o in cell.outputs if "data" in o):
                if str(data.get("text/html", "")).startswith(JUDGE):
                    data["text/html"] = maths.in_html(data["text/html"])
        elif cell.cell_type == "markdown" and self._formulas:
            cell.source = maths.in_markdown(cell.source)
        return cell, resources


def _waiting(names: dict[str, Any]) -> set[str]:
    """The grade ids in this hand-in that a person has still to grade."""
    with Gradebook(names["db_url"]) as gradebook:
        held = gradebook.find_submission_notebook(names["notebook"], names["assignment"], names["student"])
        return {grade.name for grade in held.grades if grade.needs_manual_grade}


def complete(root: Path, assignment: str) -> None:
    """Puts the two small files beside each feedback page that `nbgrader release_feedback` insists on. A hand-in that
    came from a learning platform has none, and one such folder would end the release for the whole class.
    """
    for folder in sorted((root / "feedback").glob(f"*/{assignment}")):
        if not any(folder.glob("*.html")):
            continue
        stamp = folder / "timestamp.txt"
        if not stamp.exists():
            stamp.write_text(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S.%f} UTC\n", encoding="utf-8")
        secret = folder / "submission_secret.txt"
        if not secret.exists():
            secret.write_text(secrets.token_hex(16), encoding="utf-8")


class Hook:
    """nbgrader's post-convert hook of generate_feedback for the course at `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __call__(self, *, assignment: str, **_: Any) -> None:
        complete(self.root, assignment)
