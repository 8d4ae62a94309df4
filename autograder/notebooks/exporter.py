"""Where nbgrader reads a hand-in: every file gives a notebook, so that none stops the batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbgrader.api import Gradebook
from traitlets import Unicode

from autograder import course
from autograder.handin import preflight, source
from autograder.notebooks.gradebook_state import reopen
from autograder.notebooks.save import begin


class Preflight(NotebookExporter):
    """A notebook exporter that repairs what it reads from `submitted/`, and reads everything else as it is."""

    root = Unicode(help="the course's folder").tag(config=True)
    results = Unicode(help="where verdicts are written").tag(config=True)

    def from_filename(self, filename: str, resources: dict[str, Any] | None = None, **more: Any) -> Any:
        if resources is None or not getattr(self.parent, "_sanitizing", False):
            return super().from_filename(filename, resources=resources, **more)
        names = resources["nbgrader"]
        with Gradebook(names["db_url"]) as gradebook:
            # whether a person has graded what stands now decides when the new verdict is entered
            reopen(gradebook, names["assignment"], names["student"], by_hand=False)
        root = Path(self.root)
        known = source.read(course.load(root).assignment(names["assignment"]).notebook)
        prepared = preflight.prepare(Path(filename).parent, known)
        begin(Path(self.results), names["student"], names["assignment"], prepared.digest)
        for note in (*prepared.notes, *((prepared.problem,) if prepared.problem else ())):
            self.log.info("%s/%s: %s", names["student"], names["assignment"], note)
        made: tuple[str, dict[str, Any]] = self.from_notebook_node(  # type: ignore[no-untyped-call]
            prepared.notebook, resources=resources, **more
        )
        return made
