"""Makes this checkout an nbgrader course: `nbgrader generate_assignment`, `autograde`, formgrader and the rest."""

from pathlib import Path

from autograder.notebooks.config import configure

configure(get_config(), Path(__file__).resolve().parent)  # type: ignore[name-defined]  # noqa: F821
