"""What became of each job, on the disk before anything is done about it: the memory of `shardlab grade`.

A run is open until it ends; the next start with the same selection goes on with it. States of a job in a run: queued →
running → graded (its result lies in the spool) → recorded, or blocked, or replaced by a newer hand-in.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec

from autograder.engine.job import Job

RUNS_KEPT = 5
_VERSION = 1
_SCHEMA = """
create table run (id text primary key, selection text not null, begun real not null, ended real) strict;
create table job (run text not null, id text not null, student text not null, assignment text not null,
    job blob not null, state text not null, why text not null, primary key (run, id)) strict;
create table change (number integer primary key, run text not null, id text not null, state text not null,
    at real not null, why text not null) strict;
"""


class State(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    GRADED = "graded"
    RECORDED = "recorded"
    BLOCKED = "blocked"
    REPLACED = "replaced"


@dataclass(frozen=True)
class Run:
    """A run; `continued` when an earlier process began it."""

    id: str
    continued: bool


class JournalError(OSError):
    """The journal cannot be written: a full disk, or a folder that is read-only. Nothing is lost."""


class Journal:
    """The journal in one SQLite file. May be used from several threads; by one process at a time."""

    def __init__(self, path: Path) -> None:
        """Opens or makes it; one that is damaged is set aside, and `word` says so. Raises JournalError."""
        self.path = path
        self.word = ""
        self._lock = threading.Lock()
        try:
            self._db = self._open()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise JournalError(f"{path}: {error}") from error
            aside = path.with_suffix(".broken")
            self.word = f"{path} was damaged ({error}): set aside as {aside.name}; everything is graded anew"
            for end in ("-wal", "-shm"):
                Path(f"{path}{end}").unlink(missing_ok=True)
            path.replace(aside)
            try:
                self._db = self._open()
            except sqlite3.DatabaseError as again:
                raise JournalError(f"{path}: {again}") from again

    def close(self) -> None:
        """Closes the file."""
        with self._lock:
            self._db.close()

    def run(self, selection: str, new_id: str) -> Run:
        """The open run of this selection, or a new one. Forgets all but the latest runs that ended."""
        with self._writing() as db:
            found = db.execute(
                "select id from run where selection = ? and ended is null order by begun desc", (selection,)
            ).fetchone()
            if found is not None:
                return Run(found[0], True)
            old = "select id from run where ended is not null order by begun desc limit -1 offset ?"
            for table, column in (("change", "run"), ("job", "run"), ("run", "id")):
                db.execute(f"delete from {table} where {column} in ({old})", (RUNS_KEPT,))
            db.execute("insert into run values (?, ?, ?, null)", (new_id, selection, time.time()))
            return Run(new_id, False)

    def note(self, job: Job, state: State, why: str = "") -> None:
        """Puts a job of a run into a state; on the disk when it returns. Raises JournalError."""
        with self._writing() as db:
            row = (job.run, job.id, job.student, job.assignment, msgspec.json.encode(job), str(state), why)
            db.execute("insert or replace into job values (?, ?, ?, ?, ?, ?, ?)", row)
            db.execute(
                "insert into change values (null, ?, ?, ?, ?, ?)",
                (job.run, job.id, str(state), time.time(), why),
            )

    def state(self, job: Job) -> State | None:
        """The state of a job in its run; None where the run does not know it."""
        with self._lock:
            found = self._db.execute(
                "select state from job where run = ? and id = ?", (job.run, job.id)
            ).fetchone()
        return None if found is None else State(found[0])

    def states(self, run: str) -> dict[str, State]:
        """The state of each job of a run, by the job's id."""
        with self._lock:
            rows = self._db.execute("select id, state from job where run = ?", (run,)).fetchall()
        return {name: State(state) for name, state in rows}

    def changes(self) -> list[tuple[str, str, State]]:
        """Every change of state that is remembered, as they came: (run, job id, state)."""
        with self._lock:
            rows = self._db.execute("select run, id, state from change order by number").fetchall()
        return [(run, name, State(state)) for run, name, state in rows]

    def recorded(self, job: Job) -> bool:
        """Whether the latest that is known of a job, in whatever run, is that it was recorded."""
        with self._lock:
            found = self._db.execute(
                "select state from change where id = ? order by number desc limit 1", (job.id,)
            ).fetchone()
        return found is not None and found[0] == State.RECORDED

    def end(self, run: str) -> None:
        """The run is over: the next start begins a new one."""
        with self._writing() as db:
            db.execute("update run set ended = ? where id = ?", (time.time(), run))

    def open_runs(self) -> list[str]:
        """The ids of the runs that did not end."""
        with self._lock:
            return [name for (name,) in self._db.execute("select id from run where ended is null")]

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock, self._db:
                yield self._db
        except sqlite3.OperationalError as error:
            raise JournalError(f"{self.path}: {error}") from error

    def _open(self) -> sqlite3.Connection:
        made = not self.path.exists()
        db = sqlite3.connect(self.path, check_same_thread=False, timeout=30)
        try:
            db.execute("pragma journal_mode = wal")
            db.execute("pragma synchronous = full")
            checked = db.execute("pragma quick_check").fetchone()
            if checked != ("ok",):
                raise sqlite3.DatabaseError(str(checked[0]))
            version = db.execute("pragma user_version").fetchone()[0]
            if version == 0:
                with db:
                    db.executescript(f"begin; {_SCHEMA} pragma user_version = {_VERSION}; commit;")
            elif version != _VERSION:
                raise sqlite3.DatabaseError(f"its version is {version}, this program writes {_VERSION}")
        except BaseException:
            db.close()
            raise
        if made:
            handle = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
            os.fsync(handle)
            os.close(handle)
        return db
