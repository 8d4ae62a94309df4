"""nbgrader's Execute, replaced: the engine grades the hand-in, in a box, and this writes its notebook back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors.base import NbGraderPreprocessor
from traitlets import Bool, Unicode

from autograder import course
from autograder.engine.handins import new_run
from autograder.engine.notebook import blocked, grade_notebook
from autograder.handin import source
from autograder.notebooks import differs
from autograder.verdict import Verdict

Ready = tuple[Verdict, NotebookNode]

ready: dict[tuple[str, str, str], Ready] = {}
"""Verdicts made beforehand, by (course root, student, assignment): taken once, in place of grading again."""


class Execute(NbGraderPreprocessor):
    """Grades one hand-in and leaves its verdict in `resources["shardlab"]` for SaveGrades."""

    root = Unicode(help="the course's folder, where course.toml lies").tag(config=True)
    sandboxed = Bool(True, help="False runs learner code without a box: for one's own hand-ins only").tag(
        config=True
    )

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        names = resources["nbgrader"]
        student, assignment = names["student"], names["assignment"]
        root = Path(self.root)
        made = ready.pop((str(root), student, assignment), None)
        verdict, graded = made or self._grade(root, student, assignment)
        verdict, graded = self._same_source(root, verdict, graded, names["db_url"])
        resources["shardlab"] = verdict
        return graded if graded.cells else nb, resources

    def _grade(self, root: Path, student: str, assignment: str) -> Ready:
        loaded = course.load(root)
        converter: Any = self.parent.parent  # type: ignore[union-attr]  # the exporter's, which is Autograde
        coursedir = converter.coursedir
        folder = Path(coursedir.format_path(coursedir.submitted_directory, student, assignment))
        return grade_notebook(
            loaded,
            loaded.assignment(assignment),
            student,
            folder,
            sandboxed=self.sandboxed,
            run=new_run(),
        )

    def _same_source(self, root: Path, verdict: Verdict, graded: NotebookNode, db_url: str) -> Ready:
        """A score is entered only where gradebook and course agree on cells, texts and points."""
        loaded = course.load(root).assignment(verdict.assignment)
        known = source.read(loaded.notebook)
        with Gradebook(db_url) as gradebook:
            why = differs.difference(gradebook, verdict.assignment, known)
        if not why:
            return verdict, graded
        stopped, banner = blocked(loaded, verdict.student, known, why)
        same = {
            name: getattr(verdict, name)
            for name in ("seconds", "sandboxed", "run", "engine", "device", "evidence")
        }
        return msgspec.structs.replace(stopped, **same), banner
