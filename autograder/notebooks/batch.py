"""nbgrader's Autograde with two assumptions taken out: that a hand-in holds a notebook of the right name, and that
what lies beside it is harmless.

nbgrader looks for `*.ipynb` in each folder and drops the folder, or stops, where it finds none it knows: a renamed
notebook, a lab handed in as lab.py alone. Here every folder is one hand-in; what is in it is Preflight's business.
"""

from __future__ import annotations

import functools
import glob
import importlib
import mimetypes
import os
from datetime import datetime
from pathlib import Path

from nbgrader.converters import Autograde, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.utils import parse_utc

from autograder.handin import preflight

STAMP = "timestamp.txt"
_SHOWN = (
    "image/png",
    "image/jpeg",
    "image/gif",
    "text/plain",
    "text/csv",
    "text/x-python",
    "application/json",
    "application/pdf",
)
"""What may lie beside a graded notebook: formgrader serves it to graders, and a page of a learner's would run there."""


class EveryFolder(Autograde):
    """Stands in for nbgrader's Autograde, in its commands and in formgrader."""

    def init_notebooks(self) -> None:
        self.assignments = {}
        self.notebooks = []
        course = self._course()
        vars(course)["get_existing_timestamp"] = functools.partial(_stamp, course)
        pattern = self._format_source(course.assignment_id, course.student_id)
        for folder in map(Path, sorted(glob.glob(pattern))):  # noqa: PTH207  (an absolute pattern of nbgrader's)
            if folder.is_dir():
                self.assignments[str(folder)] = [str(folder / f"{folder.name}.ipynb")]
        if not self.assignments:
            message = f"nothing was handed in at {pattern}"
            self.log.error(message)
            raise NbGraderException(message)

    def init_assignment(self, assignment_id: str, student_id: str) -> None:
        """Copies what lies beside the notebook, but no links and pipes: nbgrader would follow the ones out of the
        hand-in and wait on the others for ever. Nor what cannot be read or lies too deep, at which it would stop, nor
        pages.
        """
        course = self._course()
        source = Path(self._format_source(assignment_id, student_id))
        before = course.ignore
        odd = [path.name for path, problem in preflight.walk(source) if problem or not _copied(path)]
        if course.get_existing_timestamp(str(source)) is None:
            odd.append(STAMP)
        course.ignore = [*before, *(glob.escape(name) for name in odd)]
        try:
            super().init_assignment(assignment_id, student_id)
        finally:
            course.ignore = before

    def _course(self) -> CourseDirectory:
        assert self.coursedir is not None
        return self.coursedir


def _copied(path: Path) -> bool:
    """Whether nbgrader may copy `path`: a file or folder, no link, that can be read."""
    if not os.access(path, os.R_OK) or path.is_symlink():
        return False
    if path.is_dir():
        return os.access(path, os.X_OK)
    return path.is_file() and mimetypes.guess_type(path.name)[0] in (None, *_SHOWN)


def install() -> None:
    """Makes nbgrader's own commands and formgrader use it. There is no trait for the class, so the name is set."""
    for name in ("nbgrader.apps.api", "nbgrader.apps.autogradeapp"):
        vars(importlib.import_module(name))["Autograde"] = EveryFolder


def _stamp(course: CourseDirectory, folder: str) -> datetime | None:
    """When this was handed in; None where that is not said, or not in a way that can be read."""
    path = Path(folder) / STAMP
    try:
        text = path.read_text(encoding="utf-8").strip() if path.is_file() and not path.is_symlink() else ""
        return parse_utc(text) if text else None
    except (ValueError, OverflowError, OSError):
        course.log.warning("%s cannot be read as a time: taken as not given", path)
        return None
