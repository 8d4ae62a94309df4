"""What a learner sees of the graded notebook: reasons, never keys."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors.base import NbGraderPreprocessor

from autograder.handin.page import GRADERS
from autograder.judge import region


class ForLearners(NbGraderPreprocessor):
    """Takes out of a graded notebook what only graders may see: hidden-test regions, and outputs marked for them."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        if cell.cell_type == "code":
            cell.source = region.split(cell.source)[0].rstrip("\n")
            cell.outputs = [
                o for o in cell.outputs if o.get("metadata", {}).get("shardlab") != GRADERS["shardlab"]
            ]
        return cell, resources


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
