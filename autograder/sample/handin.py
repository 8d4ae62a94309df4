"""A hand-in in the making: a released assignment and the edits a learner makes to it."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder import stub
from autograder.build.quiz import answers_for
from autograder.build.source import grade_id
from autograder.content import Assignment, Course


class HandIn:
    """One learner's copy of a released assignment; `save` writes it as it would be handed in."""

    def __init__(self, course: Course, assignment: Assignment, folder: Path) -> None:
        self.course = course
        self.assignment = assignment
        self.folder = folder
        shutil.copytree(assignment.release, folder)
        self.path = folder / f"{assignment.name}.ipynb"
        self.notebook: NotebookNode = nbformat.read(self.path, as_version=4)

    def save(self) -> None:
        """Writes the notebook back."""
        nbformat.write(self.notebook, self.path)

    def cell(self, name: str) -> NotebookNode:
        """The cell with the grade id `name`. Raises KeyError where the assignment has none."""
        for cell in self.notebook.cells:
            found: NotebookNode = cell
            if found.metadata.get("nbgrader", {}).get("grade_id") == name:
                return found
        raise KeyError(f"{self.assignment.name} has no cell {name!r}")

    def solve(self, *, only: frozenset[str] | None = None) -> HandIn:
        """Fills in the right answers, of all cells or of the grade ids in `only`."""
        solution = nbformat.read(self.assignment.notebook, as_version=4)
        for answered in solution.cells:
            graded = answered.metadata.get("nbgrader", {})
            name = graded.get("grade_id")
            if graded.get("solution") and (only is None or name in only):
                # A model essay ends where its mark scheme begins: what a learner writes has none.
                self.cell(name).source = _without_markers(
                    answered.source.partition("=== BEGIN MARK")[0].rstrip()
                )
        if self.assignment.lab is not None:
            self.lab("solution.py")
        if self.assignment.quiz is not None and self.assignment.quiz.draw == "learner":
            # the solution answers the questions of its author: these are those of the learner whose folder this is
            for name, source in answers_for(self.course, self.assignment, self.folder.parent.name).items():
                self.answer(name, source)
        return self

    def answer(self, exercise: str, source: str) -> HandIn:
        """Writes `source` into the learner's cell of `exercise`."""
        self.cell(grade_id("answer", exercise)).source = source
        return self

    def replace(self, exercise: str, old: str, new: str) -> HandIn:
        """Changes a part of the learner's cell of `exercise`. Raises ValueError where `old` does not stand there."""
        cell = self.cell(grade_id("answer", exercise))
        if old not in cell.source:
            raise ValueError(f"{self.assignment.name} {exercise}: {old!r} does not stand in {cell.source!r}")
        cell.source = cell.source.replace(old, new)
        return self

    def essay(self, exercise: str, text: str) -> HandIn:
        """Writes the hand-graded explanation of `exercise`."""
        self.cell(grade_id("essay", exercise)).source = text
        return self

    def insert_code(self, source: str, *, first: bool = False) -> HandIn:
        """Adds a code cell of one's own: before everything, or after the setup cell."""
        self.notebook.cells.insert(0 if first else 2, nbformat.v4.new_code_cell(source))
        return self

    def lab(self, name: str) -> HandIn:
        """Takes a file of the lab's solution folder (`solution.py`, `attempts/wrong_x.py`) as one's lab.py."""
        text = (self.course.labs[self.assignment.lab or ""].solution / name).read_text(encoding="utf-8")
        lines = _without_markers(text).split("\n")
        # The first line of an attempt says its verdict: a learner's file has no such line.
        text = "\n".join(lines[1:] if lines[0].startswith("# expect:") else lines)
        (self.folder / "lab.py").write_text(text, encoding="utf-8")
        return self


def _without_markers(text: str) -> str:
    return "\n".join(line for line in text.split("\n") if line.strip() not in (stub.BEGIN, stub.END))
