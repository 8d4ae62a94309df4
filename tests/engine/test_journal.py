"""The journal and the spool: what was reported is there after a kill, and half-written things are not."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import msgspec
import nbformat
import pytest

from autograder.engine.job import Job, Needs
from autograder.engine.journal import Journal, JournalBusy, JournalError
from autograder.engine.spool import Spool
from autograder.verdict import Status, without_score

JOB = Job(
    id="1", student="ada", assignment="level-0", folder="f", root="r", digest="d", needs=Needs(), run="run-1"
)


def test_a_run_that_did_not_finish_is_gone_on_with(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        assert journal.begin("run-1", "all") == "run-1"
        journal.note(JOB, "recorded")
    with Journal(tmp_path) as journal:
        assert journal.begin("run-2", "only ada") == "run-2"
        assert journal.begin("run-3", "all") == "run-1"
        assert journal.state(JOB) == "recorded"
        assert journal.state(msgspec.structs.replace(JOB, id="another hand-in")) is None
        journal.finish("run-1")
        assert journal.begin("run-3", "all") == "run-3"


def test_what_was_noted_is_there_after_a_kill(tmp_path: Path, root: Path) -> None:
    code = f"""
    import os, signal
    from pathlib import Path
    from tests.engine.test_journal import JOB
    from autograder.engine.journal import Journal
    journal = Journal(Path({str(tmp_path)!r})).__enter__()
    journal.begin("run-1", "all")
    for state in ("queued", "running", "graded"):
        journal.note(JOB, state)
    os.kill(os.getpid(), signal.SIGKILL)
    """
    ran = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=root, check=False, timeout=60)
    assert ran.returncode == -signal.SIGKILL
    with Journal(tmp_path) as journal:
        assert journal.begin("run-2", "all") == "run-1" and journal.state(JOB) == "graded"


def test_one_grader_at_a_time(tmp_path: Path) -> None:
    with Journal(tmp_path), pytest.raises(JournalBusy, match="another grader"), Journal(tmp_path):
        pass
    with Journal(tmp_path) as journal:
        journal.begin("run", "all")


def test_a_journal_that_is_no_database_is_set_aside(tmp_path: Path) -> None:
    (tmp_path / ".journal.db").write_bytes(b"not a database, whatever it was before" * 100)
    with Journal(tmp_path) as journal:
        assert journal.begin("run-1", "all") == "run-1"
    (broken,) = tmp_path.glob(".journal.broken-*")
    assert broken.read_bytes().startswith(b"not a database")


def test_a_journal_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JournalError, match="cannot be written"), Journal(tmp_path / "file"):
        pass
    with Journal(tmp_path) as journal:
        journal.begin("run-1", "all")
        journal._book.set_authorizer(lambda *_: sqlite3.SQLITE_DENY)
        with pytest.raises(JournalError, match="make room"):
            journal.note(JOB, "queued")


def test_the_spool_gives_back_what_was_put_and_nothing_half(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    verdict = without_score("ada", "level-0", Status.UNGRADABLE, 6.0, "no notebook")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# ∇", id="a")])
    assert spool.take(JOB) is None
    spool.put(JOB, verdict, notebook)
    found = spool.take(JOB)
    assert found == (verdict, notebook)
    (path,) = spool.folder.iterdir()
    whole = path.read_bytes()
    for length in range(0, len(whole), 97):
        path.write_bytes(whole[:length])
        assert spool.take(JOB) is None
    spool.drop(JOB)
    spool.drop(JOB)
    assert spool.take(JOB) is None and not list(spool.folder.iterdir())
