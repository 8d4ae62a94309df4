"""Finished jobs that wait to be entered in the gradebook: a file each, whole or not there."""

from __future__ import annotations

from pathlib import Path

import msgspec
import nbformat
from nbformat import NotebookNode

from autograder import durable
from autograder.engine.job import Job
from autograder.verdict import Verdict

SCHEMA = 1


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """What a job brought: its verdict, and the notebook with the judge's outputs (as nbformat writes it)."""

    job: Job
    verdict: Verdict
    notebook: str
    schema: int = SCHEMA


class Spool:
    """A folder of finished jobs. Several processes may write into it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, job: Job, verdict: Verdict, notebook: NotebookNode) -> None:
        """Writes what a job brought, durably and at once."""
        text = nbformat.writes(notebook, version=nbformat.NO_CONVERT)
        content = msgspec.json.encode(Finished(job=job, verdict=verdict, notebook=text))
        durable.write(self._path(job), content)

    def take(self, job: Job) -> tuple[Verdict, NotebookNode] | None:
        """What a job brought; None where nothing stands there that can be read."""
        try:
            found = msgspec.json.decode(self._path(job).read_bytes(), type=Finished)
        except (FileNotFoundError, msgspec.DecodeError):
            return None
        if found.schema != SCHEMA or found.job.id != job.id:
            return None
        return found.verdict, nbformat.reads(found.notebook, as_version=nbformat.NO_CONVERT)

    def drop(self, job: Job) -> None:
        """Forgets a job whose result stands elsewhere by now."""
        self._path(job).unlink(missing_ok=True)

    def _path(self, job: Job) -> Path:
        return self.folder / f"{job.id}.json"
