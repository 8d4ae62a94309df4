"""What has become of every hand-in of a grading run, durable before it is acted upon.

SQLite with a write-ahead log: after a kill or a loss of power the next start finds the last state that was reported.
One process at a time may hold it.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any, Literal

from autograder.engine.job import Job

State = Literal["queued", "running", "graded", "recorded", "replaced"]

_TABLES = """
CREATE TABLE IF NOT EXISTS run (id TEXT PRIMARY KEY, scope TEXT NOT NULL, started REAL NOT NULL, finished REAL);
CREATE TABLE IF NOT EXISTS job (
    run TEXT NOT NULL, student TEXT NOT NULL, assignment TEXT NOT NULL, id TEXT NOT NULL, digest TEXT NOT NULL,
    state TEXT NOT NULL, why TEXT NOT NULL DEFAULT '', changed REAL NOT NULL,
    PRIMARY KEY (run, student, assignment)
);
"""


class JournalBusy(RuntimeError):
    """Another grader is at work on these results."""


class JournalError(RuntimeError):
    """The journal cannot be written: the disk is full, or the folder is not ours."""


class Journal:
    """The journal of the results in `folder`. A context manager: leaving it lets the next grader in. Use it from any
    thread. Raises JournalBusy, JournalError.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()

    def __enter__(self) -> Journal:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._held = os.open(self._folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise JournalError(f"{self._folder} cannot be written: {error.strerror}") from error
        try:
            fcntl.flock(self._held, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._held)
            raise JournalBusy(
                f"another grader is at work on {self._folder}: wait for it, or stop it"
            ) from error
        try:
            self._open()
        except BaseException:
            os.close(self._held)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._book.close()
        os.close(self._held)

    def begin(self, run: str, scope: str) -> str:
        """The run to go on with: the last of this `scope` that did not finish, else a new one called `run`."""
        found = self._ask(
            "SELECT id FROM run WHERE finished IS NULL AND scope = ? ORDER BY started DESC", scope
        )
        if found:
            return str(found[0][0])
        self._do("INSERT INTO run (id, scope, started) VALUES (?, ?, ?)", run, scope, time.time())
        return run

    def finish(self, run: str) -> None:
        """Closes a run; what older ones noted is forgotten."""
        self._do("UPDATE run SET finished = ? WHERE id = ?", time.time(), run)
        self._do(
            "DELETE FROM job WHERE run IN (SELECT id FROM run WHERE finished IS NOT NULL AND id <> ?)", run
        )

    def note(self, job: Job, state: State, why: str = "") -> None:
        """Writes that `job` is in `state` now; returns when that is on the disk."""
        self._do(
            "INSERT OR REPLACE INTO job (run, student, assignment, id, digest, state, why, changed) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            *(job.run, job.student, job.assignment, job.id, job.digest, state, why, time.time()),
        )

    def state(self, job: Job) -> State | None:
        """The last state of this very hand-in in its run; None where there is none, or it was another."""
        found: list[tuple[Any, ...]] = self._ask(
            "SELECT state FROM job WHERE run = ? AND student = ? AND assignment = ? AND id = ?",
            job.run,
            job.student,
            job.assignment,
            job.id,
        )
        state: State | None = found[0][0] if found else None
        return state

    def _open(self) -> None:
        path = self._folder / ".journal.db"
        try:
            self._book = self._connect(path)
        except sqlite3.OperationalError as error:
            raise JournalError(f"{path} cannot be opened: {error}") from error
        except sqlite3.DatabaseError:
            # Not a database any more. It holds nothing that grading again would not bring: set aside, not deleted.
            path.replace(path.with_suffix(f".broken-{int(time.time())}"))
            self._book = self._connect(path)

    def _connect(self, path: Path) -> sqlite3.Connection:
        book = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            book.execute("PRAGMA journal_mode=WAL")
            book.execute("PRAGMA synchronous=FULL")
            book.executescript(_TABLES)
        except sqlite3.Error:
            book.close()
            raise
        return book

    def _do(self, statement: str, *values: object) -> None:
        try:
            with self._lock:
                self._book.execute(statement, values)
        except sqlite3.Error as error:
            raise JournalError(
                f"{self._folder / '.journal.db'} cannot be written: {error}. "
                "What is graded stands: make room, and start again"
            ) from error

    def _ask(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._book.execute(statement, values).fetchall()
