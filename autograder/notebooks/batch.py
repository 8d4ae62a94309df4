"""nbgrader's Autograde with its one assumption taken out: that a hand-in holds a notebook of the right name.

nbgrader looks for `*.ipynb` in each folder and drops the folder, or stops, where it finds none it knows: a renamed
notebook, a lab handed in as lab.py alone. Here every folder is one hand-in; what is in it is Preflight's business.
"""

from __future__ import annotations

import glob
import importlib
from pathlib import Path

from nbgrader.converters import Autograde, NbGraderException
from nbgrader.coursedir import CourseDirectory


class EveryFolder(Autograde):
    """Stands in for nbgrader's Autograde, in its commands and in formgrader."""

    def init_notebooks(self) -> None:
        self.assignments = {}
        self.notebooks = []
        course = self._course()
        pattern = self._format_source(course.assignment_id, course.student_id)
        for folder in map(Path, sorted(glob.glob(pattern))):  # noqa: PTH207  (an absolute pattern of nbgrader's)
            if folder.is_dir():
                self.assignments[str(folder)] = [str(folder / f"{folder.name}.ipynb")]
        if not self.assignments:
            message = f"nothing was handed in at {pattern}"
            self.log.error(message)
            raise NbGraderException(message)

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        source = Path(self._format_source(assignment_id, student_id))
        for path in source.rglob("*"):
            # nbgrader copies what it finds, and would follow a link out of the hand-in, or wait on a pipe for ever.
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                course = self._course()
                course.ignore = [*course.ignore, path.name]
        super().init_assignment(assignment_id, student_id)

    def _course(self) -> CourseDirectory:
        assert self.coursedir is not None
        return self.coursedir


def install() -> None:
    """Makes nbgrader's own commands and formgrader use it. There is no trait for the class, so the name is set."""
    for name in ("nbgrader.apps.api", "nbgrader.apps.autogradeapp"):
        vars(importlib.import_module(name))["Autograde"] = EveryFolder
