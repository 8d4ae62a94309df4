"""`shardlab grade` as a process that tests watch, kill and start again."""

from __future__ import annotations

import contextlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil

from autograder.engine.journal import Journal, State

SHARDLAB = Path(sys.executable).with_name("shardlab")
GOLDEN = Path(__file__).parent / "golden/sample-class.csv"
PATIENCE = 300.0


class Grader:
    """One `shardlab grade`, and every process it was ever seen to have."""

    def __init__(self, root: Path, *words: str) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115  (a pipe nobody reads would fill)
        self.process = subprocess.Popen(
            [SHARDLAB, "grade", "--course", root, *words], stdout=self._said, stderr=subprocess.STDOUT
        )
        self.seen: dict[int, psutil.Process] = {}

    def look(self) -> list[psutil.Process]:
        """The processes below it now."""
        try:
            below = psutil.Process(self.process.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []
        self.seen |= {process.pid: process for process in below}
        return below

    def wait_for(
        self, what: Callable[[], object], *, patience: float = PATIENCE, every: float = 0.05
    ) -> bool:
        """Whether `what` became true before the process ended."""
        until = time.monotonic() + patience
        while time.monotonic() < until:
            self.look()
            if what():
                return True
            if self.process.poll() is not None:
                return False
            time.sleep(every)
        raise AssertionError(f"nothing happened in {patience:g} s")

    def workers(self) -> list[psutil.Process]:
        """Its worker processes."""
        return [p for p in self.look() if "autograder.engine.worker" in _command(p)]

    def boxes(self) -> list[psutil.Process]:
        """The outermost processes of its boxes."""
        return [p for p in self.look() if "bwrap" in "".join(_command(p)[:1])]

    def send(self, number: int) -> None:
        """A signal to the grader itself."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def end(self) -> tuple[int, str]:
        """Waits for it; its exit status and what it said. Fails where a process of it is left."""
        self.process.wait(PATIENCE)
        self._said.seek(0)
        said = self._said.read().decode()
        _, left = psutil.wait_procs(list(self.seen.values()), timeout=60)
        still = [p for p in left if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
        assert not still, f"left running: {still}"
        return self.process.returncode, said


@contextlib.contextmanager
def grading(root: Path, *words: str) -> Iterator[Grader]:
    """A grader that does not outlive the test."""
    made = Grader(root, *words)
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.send(signal.SIGKILL)
        made.process.wait()
        made._said.close()


def changes(root: Path) -> list[tuple[str, str, State]]:
    """Every change of state in the journal of a course, as they came: (run, job id, state)."""
    path = root / "results/.journal.db"
    if not path.exists():
        return []
    with contextlib.closing(sqlite3.connect(path, timeout=60)) as db:  # beside the one who writes
        try:
            rows = db.execute("select run, id, state from change order by number").fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):  # it is being made
                return []
            raise
    return [(run, name, State(state)) for run, name, state in rows]


def golden(learners: tuple[str, ...]) -> str:
    """The table of an undisturbed run for these learners of the sample class."""
    lines = GOLDEN.read_text().splitlines(keepends=True)
    return "".join(lines[:1] + [line for line in lines if line.split(",")[0] in learners])


def check_consistent(root: Path) -> None:
    """Nothing was graded again in a run after it was recorded, and the last run has ended."""
    recorded: set[tuple[str, str]] = set()
    for run, name, state in changes(root):
        assert state is not State.RUNNING or (run, name) not in recorded, f"graded twice: {name}"
        if state is State.RECORDED:
            recorded.add((run, name))
    assert recorded
    journal = Journal(root / "results/.journal.db")
    assert journal.open_runs() == [] and not journal.word
    journal.close()
    assert not list((root / "results/.spool").iterdir())


def _command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []
