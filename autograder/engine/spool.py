"""Finished jobs on disk, one file each, from the process that graded to the one that records."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import msgspec
import nbformat
from nbformat import NotebookNode

from autograder import durable
from autograder.engine.job import Job
from autograder.verdict import Verdict

SCHEMA = 1


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    schema: int
    job: Job
    verdict: Verdict
    notebook: dict[str, Any]


class Spool:
    """A folder of finished jobs. Any number of processes may put, one takes and drops."""

    def __init__(self, folder: Path) -> None:
        """Makes the folder where it is not there. Raises OSError."""
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def path(self, job: Job) -> Path:
        """The file of a job."""
        return self.folder / f"{job.id}.json"

    def put(self, job: Job, verdict: Verdict, notebook: NotebookNode) -> Path:
        """Writes a result whole or not at all, and returns once it is on the disk. Raises OSError."""
        made = _File(SCHEMA, job, verdict, notebook)
        path = self.path(job)
        durable.write(path, msgspec.json.encode(made))
        return path

    def take(self, job: Job) -> tuple[Verdict, NotebookNode] | None:
        """The result of a job; None where there is none, or none that can be read."""
        try:
            found = msgspec.json.decode(self.path(job).read_bytes(), type=_File)
        except (OSError, ValueError):
            return None
        if found.schema != SCHEMA or found.job.id != job.id:
            return None
        return found.verdict, nbformat.from_dict(found.notebook)

    def drop(self, job: Job) -> None:
        """Takes the result of a job away, where there is one."""
        self.path(job).unlink(missing_ok=True)

    def clean(self) -> None:
        """Takes away the halves that writers left which were killed. For a process that knows no writer is running."""
        for path in self.folder.glob(".*"):
            with contextlib.suppress(OSError):
                path.unlink()

    def clear(self) -> None:
        """Takes away everything, when all that is wanted is recorded."""
        self.clean()
        for path in self.folder.glob("*.json"):
            path.unlink(missing_ok=True)
