"""nbgrader as the book-keeper, run in this process and quietly: one call an act, each for one course folder.

nbgrader changes the working folder while it runs, so these calls must not overlap in one process.
"""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.converters import BaseConverter, GenerateAssignment, GenerateFeedback, NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import CsvExportPlugin
from sqlalchemy.exc import SAWarning
from traitlets.config import Config, LoggingConfigurable

from autograder import verdict as verdicts
from autograder.content import Assignment, Course
from autograder.handin import source
from autograder.notebooks import config as settings
from autograder.notebooks import differs, execute, save
from autograder.notebooks.batch import EveryFolder
from autograder.notebooks.gradebook_state import reopen
from autograder.tomlfile import ContentError
from autograder.verdict import Status, Verdict

log = logging.getLogger(__name__)


class BookkeepingError(ContentError):
    """nbgrader refuses this course, or could not do its part; the message is the last it logged."""


def generate(root: Path, assignments: Iterable[str]) -> None:
    """Runs nbgrader's generate_assignment --force for each assignment whose release or gradebook entry is not up to
    date. Raises BookkeepingError, and leaves the release as it is, where cells came or went under existing hand-ins.
    """
    for name in assignments:
        if not _current(root, name):
            _same_cells(root, name)
            with _converter(GenerateAssignment, root, name) as converter:
                converter.start()


def record(
    root: Path,
    student: str,
    assignment: str,
    verdict: Verdict,
    notebook: NotebookNode,
    *,
    results: Path | None = None,
    sandboxed: bool = True,
) -> Verdict:
    """Runs nbgrader's autograde --force for one hand-in with a verdict made beforehand: enters scores, statuses and
    comments, writes `autograded/` and results/<student>/<assignment>.json. Returns the verdict as entered: with hand
    grades that still stand, or `blocked` where gradebook and course differ. Raises BookkeepingError.
    """
    root = root.resolve()
    key = (str(root), student, assignment)
    execute.ready[key] = (verdict, notebook)
    where = results or root / "results"
    try:
        with _converter(
            EveryFolder, root, assignment, student, results=where, sandboxed=sandboxed
        ) as converter:
            converter.start()
    finally:
        execute.ready.pop(key, None)
    return verdicts.read(where / student / f"{assignment}.json")


def feedback(root: Path, student: str, assignment: str) -> Path:
    """Runs nbgrader's generate_feedback --force for one hand-in; returns the page. Raises BookkeepingError."""
    with _converter(GenerateFeedback, root, assignment, student) as converter:
        template = Config()
        template.HTMLExporter.template_name = "feedback"
        converter.update_config(template)
        converter.start()
    return _page(root, student, assignment)


def unscore(course: Course, verdict: Verdict, results: Path) -> None:
    """Writes a verdict that is no score in the place of whatever stood: in results/, and in the gradebook, where the
    submission's automatic scores go and its cells wait for a person. The feedback page of before is removed.
    """
    if verdict.status is Status.BLOCKED:
        before = save.previous(results, verdict.student, verdict.assignment)
        verdict = msgspec.structs.replace(verdict, parts=save.remembered(before, verdict.reason))
    verdicts.write(verdict, results)
    page = _page(course.root, verdict.student, verdict.assignment)
    page.unlink(missing_ok=True)
    with gradebook(course.root) as book:
        reopen(book, verdict.assignment, verdict.student)


def max_score(course: Course, assignment: Assignment) -> float:
    """The points of an assignment, by its own notebook. Raises SourceError where it is not built."""
    return source.read(assignment.notebook).max_score


def export(root: Path, path: Path) -> Path:
    """nbgrader's own CSV of all grades, written to `path`."""
    plugin = CsvExportPlugin()
    plugin.to = str(path)
    with gradebook(root) as book:
        plugin.export(book)
    return path


@contextlib.contextmanager
def gradebook(root: Path) -> Iterator[Gradebook]:
    """The gradebook of the course at `root`."""
    with Gradebook(_coursedir(root, _config(root)).db_url) as book:
        yield book


def _page(root: Path, student: str, assignment: str) -> Path:
    return root / "feedback" / student / assignment / f"{assignment}.html"


def _current(root: Path, name: str) -> bool:
    made = root / settings.SOURCE / name / f"{name}.ipynb"
    released = root / settings.RELEASE / name / f"{name}.ipynb"
    if not (root / "gradebook.db").exists() or not released.exists():
        return False
    if released.stat().st_mtime < made.stat().st_mtime:
        return False
    beside = [path for path in made.parent.iterdir() if path.is_file() and path.suffix != ".ipynb"]
    if any(not (released.parent / p.name).is_file() for p in beside):
        return False
    if any((released.parent / p.name).read_bytes() != p.read_bytes() for p in beside):
        return False
    with gradebook(root) as book:
        return not differs.difference(book, name, source.read(made))


def _same_cells(root: Path, name: str) -> None:
    """Refuses before nbgrader does: that would remove the released folder first. Raises BookkeepingError."""
    if not (root / "gradebook.db").exists():
        return
    known = source.read(root / settings.SOURCE / name / f"{name}.ipynb")
    with gradebook(root) as book:
        if not book.assignment_submissions(name):
            return
        changed = differs.other_cells(book, name, known)
    if changed:
        raise BookkeepingError(
            f"{name} has hand-ins, so its cells may not come, go or be renamed: {', '.join(changed)}. "
            "Keep the cells (points and keys may change), or give the assignment a new name"
        )


def _config(root: Path, **more: Any) -> Config:
    made = Config()
    settings.configure(made, root, **more)
    return made


def _coursedir(root: Path, config: Config) -> CourseDirectory:
    return CourseDirectory(config=config, root=str(root.resolve()))


@contextlib.contextmanager
def _converter(
    kind: type[BaseConverter], root: Path, assignment: str, student: str = "*", **more: Any
) -> Iterator[BaseConverter]:
    config = _config(root, **more)
    coursedir = _coursedir(root, config)
    coursedir.assignment_id = assignment
    coursedir.student_id = student
    said = _Errors()
    quiet = logging.Logger("shardlab.nbgrader")
    quiet.addHandler(said)
    converter = kind(coursedir=coursedir, parent=LoggingConfigurable(config=config, log=quiet))
    converter.force = True
    try:
        with warnings.catch_warnings():
            # nbgrader hangs new submissions on objects SQLAlchemy has already seen, which it warns of and handles.
            warnings.filterwarnings("ignore", category=SAWarning)
            yield converter
    except (NbGraderException, SystemExit) as error:
        raise BookkeepingError(f"{assignment}, {student}: {said.text.strip() or error}") from error


class _Errors(logging.Handler):
    """Keeps what nbgrader logged of an error: the exception's own words where it logged a traceback, which goes to our
    own log.
    """

    text = ""

    def emit(self, record: logging.LogRecord) -> None:
        said = record.getMessage()
        if record.levelno < logging.ERROR or self.text.startswith("  "):
            return
        self.text = said
        if said.startswith("Traceback"):
            log.error("%s", said)
            lines = said.splitlines()
            frames = [number for number, line in enumerate(lines) if line.startswith("  File ")]
            after = lines[frames[-1] if frames else 1 :]
            self.text = "  " + next((line for line in after if line[:1].strip()), lines[-1])
