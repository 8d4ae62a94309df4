"""The journal says what became of every job, in whatever way the process that wrote it ended."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.engine.job import Job, Needs
from autograder.engine.journal import RUNS_KEPT, Journal, JournalError, State

JOB = Job("0a", "ada", "level-0", "/nowhere", "d", Needs(), True, "r1", "/course")


def test_a_run_that_did_not_end_is_gone_on_with_by_the_same_selection(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.db")
    assert not journal.run("all", "r1").continued
    journal.note(JOB, State.QUEUED)
    journal.note(JOB, State.RECORDED)
    assert not journal.run("ada", "r2").continued
    journal.close()
    again = Journal(tmp_path / "j.db")
    run = again.run("all", "r3")
    assert run.continued and run.id == "r1" and again.states("r1") == {"0a": State.RECORDED}
    assert again.state(JOB) is State.RECORDED and again.recorded(JOB)
    again.end("r1")
    assert again.run("all", "r4").id == "r4"
    assert sorted(again.open_runs()) == ["r2", "r4"]
    again.close()


def test_only_the_latest_runs_that_ended_are_kept(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.db")
    for number in range(RUNS_KEPT + 3):
        run = journal.run("all", f"r{number}")
        journal.note(Job("0a", "ada", "x", "/", "d", Needs(), True, run.id, "/c"), State.RECORDED)
        journal.end(run.id)
    journal.run("all", "last")
    assert journal.states("r0") == {} and "r0" not in {run for run, _, _ in journal.changes()}
    assert journal.states(f"r{RUNS_KEPT + 2}") == {"0a": State.RECORDED}
    journal.close()


WRITER = """
import sys
from pathlib import Path
from autograder.engine.job import Job, Needs
from autograder.engine.journal import Journal, State
journal = Journal(Path(sys.argv[1]))
run = journal.run("all", "r1")
for number in range(100000):
    job = Job(f"{number}", "ada", "x", "/", "d", Needs(), True, run.id, "/c")
    for state in (State.QUEUED, State.RUNNING, State.GRADED, State.RECORDED):
        journal.note(job, state)
    print(number, flush=True)
"""


def test_what_was_noted_is_there_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    process = subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE)
    assert process.stdout is not None
    said = [process.stdout.readline() for _ in range(20)]
    process.send_signal(signal.SIGKILL)
    said += process.stdout.read().splitlines()
    process.wait()
    process.stdout.close()
    last = int([line for line in said if line.strip()][-1])
    journal = Journal(path)
    states = journal.states("r1")
    assert all(states[str(number)] is State.RECORDED for number in range(last + 1))
    assert len(states) <= last + 2
    journal.close()


def test_a_journal_torn_at_its_end_still_has_what_came_before(tmp_path: Path) -> None:
    """A loss of power leaves half of the last page of the log: what was noted before it is there."""
    path = tmp_path / "j.db"
    journal = Journal(path)
    journal.run("all", "r1")
    journal.note(JOB, State.QUEUED)
    log = Path(f"{path}-wal")
    size = log.stat().st_size
    journal.note(JOB, State.RUNNING)
    files = {end: Path(f"{path}{end}").read_bytes() for end in ("", "-wal")}
    journal.close()
    torn = tmp_path / "torn.db"
    for length in (size + 1, size + 1000, len(files["-wal"]) - 1):
        torn.write_bytes(files[""])
        Path(f"{torn}-wal").write_bytes(files["-wal"][:length])
        found = Journal(torn)
        assert found.states("r1") == {"0a": State.QUEUED} and not found.word
        found.close()
        for end in ("", "-wal", "-shm"):
            Path(f"{torn}{end}").unlink(missing_ok=True)


def test_a_damaged_journal_is_set_aside_and_said(tmp_path: Path) -> None:
    path = tmp_path / "j.db"
    path.write_bytes(b"no database at all, but long enough to be looked at" * 100)
    journal = Journal(path)
    assert "was damaged" in journal.word and "graded anew" in journal.word
    assert not journal.run("all", "r1").continued
    assert (tmp_path / "j.broken").read_bytes().startswith(b"no database")
    journal.close()


def test_one_that_cannot_be_opened_or_written_is_said_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="unable to open"):
        Journal(tmp_path / "not there/j.db")
    journal = Journal(tmp_path / "j.db")
    journal.run("all", "r1")
    other = sqlite3.connect(tmp_path / "j.db")
    pages = other.execute("pragma page_count").fetchone()[0]
    other.close()
    journal._db.execute(f"pragma max_page_count = {pages}")  # as a full disk
    big = Job("0b", "ada", "x" * 100_000, "/", "d", Needs(), True, "r1", "/c")
    with pytest.raises(JournalError, match="full"):
        journal.note(big, State.QUEUED)
    assert journal.states("r1") == {}
    journal.close()
    assert [path.name for path in tmp_path.iterdir()] == ["j.db"]
