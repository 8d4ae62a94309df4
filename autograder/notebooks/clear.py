"""Stubs by our rule in nbgrader's generate_assignment: `name = ...` at top level, NotImplementedError in functions."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader import utils
from nbgrader.preprocessors.base import NbGraderPreprocessor

from autograder import stub
from autograder.handin.source import released


class ClearSolutions(NbGraderPreprocessor):
    """Stands in for nbgrader's preprocessor of the same name."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        if utils.is_solution(cell):
            cell.source = released(cell.source, cell.cell_type)
        elif cell.cell_type == "code" and stub.has_region(cell.source):
            raise RuntimeError(f"a solution region outside an answer cell: {cell.source[:80]!r}")
        return cell, resources
