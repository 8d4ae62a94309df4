"""The few settings that make a course an nbgrader course: used by nbgrader_config.py, and by our own commands."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from nbconvert.preprocessors import CSSHTMLHeaderPreprocessor
from nbgrader import preprocessors as theirs
from traitlets.config import Config

from autograder.notebooks import batch, feedback
from autograder.notebooks.clear import ClearSolutions
from autograder.notebooks.execute import Execute
from autograder.notebooks.exporter import Preflight
from autograder.notebooks.save import SaveGrades

SOURCE = "solutions/exercises"
RELEASE = "exercises"


def configure(config: Config, root: Path, *, results: Path | None = None, sandboxed: bool = True) -> None:
    """Fills `config` for the course at `root`; verdicts go to `results` (default: `root`/results). Also makes
    nbgrader's commands in this process take hand-ins without a notebook (see `batch`).
    """
    root = root.resolve()
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.source_directory = SOURCE
    config.CourseDirectory.release_directory = RELEASE
    config.GenerateAssignment.preprocessors = [
        theirs.LockCells,
        ClearSolutions,
        theirs.ClearOutput,
        theirs.CheckCellMetadata,
        theirs.ComputeChecksums,
        theirs.SaveCells,
        theirs.ClearHiddenTests,
        theirs.ComputeChecksums,
        theirs.CheckCellMetadata,
    ]
    config.Autograde.exporter_class = Preflight
    # Preflight has put the course's own cells in place; what nbgrader would restore comes from the gradebook.
    config.Autograde.sanitize_preprocessors = [theirs.ClearOutput]
    config.Autograde.autograde_preprocessors = [
        Execute,
        SaveGrades,
        theirs.AssignLatePenalties,
        theirs.CheckCellMetadata,
    ]
    # nbgrader would put the stub in the place of a handed-in lab.py.
    labs = sorted(path.name for path in (root / SOURCE).glob("lab-*"))
    config.Autograde.exclude_overwriting = {name: ["lab.py"] for name in labs}
    config.GenerateFeedback.preprocessors = [
        theirs.GetGrades,
        feedback.ForLearners,
        CSSHTMLHeaderPreprocessor,
    ]
    config.GenerateFeedback.post_convert_hook = feedback.Hook(root)
    for section in (config.Preflight, config.Execute, config.SaveGrades):
        section.root = str(root)
    for section in (config.Preflight, config.SaveGrades):
        section.results = str(results or root / "results")
    config.Execute.sandboxed = sandboxed
    batch.install()
    # nbgrader calls the program `alembic` by name when it makes a gradebook; it lies beside this Python, which need
    # not be on the PATH.
    beside = str(Path(sys.executable).parent)
    if beside not in os.environ.get("PATH", "").split(os.pathsep):
        os.environ["PATH"] = os.pathsep.join([beside, os.environ.get("PATH", os.defpath)])
