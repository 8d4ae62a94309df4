"""Grades hostile hand-ins, two at a time, with honest ones beside them, as a user of choice; tells what came of each.

Three workers (`worker.py`), each a process: two grade the hostile hand-ins, the third grades honest ones, a lab and a
notebook in turn, for as long as the others are at it.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import secrets
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.content import Course
from tests.attacks import course as test_course
from tests.attacks import handins
from tests.attacks.handins import HandIn

ROOT = test_course.ROOT
NOBODY = 65534
CANARY = "SHARDLAB_CANARY"
NEIGHBOURS = ("lab/labs/right_plain", "notebook/right_plain")


@dataclass(frozen=True)
class Graded:
    """One hand-in that was graded; see `worker.py` for the fields."""

    name: str
    status: str
    reason: str
    parts: dict[str, list[str]]
    printed: list[dict[str, str]]
    start: float
    end: float
    left: list[str]
    groups: list[str]
    peak_mib: int
    grown_mib: int

    def differences(self, expected: dict[str, Any]) -> list[str]:
        """How it differs from what it must get, one sentence a part."""
        said = []
        for part, (status, words) in expected.items():
            got, reason, named = self.parts.get(part, ["no such part", f"{self.status}: {self.reason}", ""])
            if got != status:
                said.append(f"{part}: {got}, should be {status}: {reason} {self.printed}")
            elif words and words not in reason and words.replace(" ", "-") != named:
                said.append(f"{part}: does not say {words!r}: {reason}")
        return said


@dataclass
class Batch:
    """What came of a run: hostile hand-ins by name, the honest neighbours in order, what was left outside."""

    graded: dict[str, Graded] = field(default_factory=dict)
    neighbours: list[Graded] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)

    def beside(self, one: Graded) -> list[Graded]:
        """The neighbours that were graded while `one` was."""
        return [other for other in self.neighbours if other.start < one.end and other.end > one.start]


class Worker:
    """A grading process, as root or as nobody."""

    def __init__(self, course: Course, uid: int, home: Path) -> None:
        command = [sys.executable, "-m", "tests.attacks.worker", str(course.root)]
        home.mkdir()
        if uid != os.getuid():
            os.chown(home, uid, uid)
            shown = [str(ROOT), sys.base_prefix, sys.prefix]
            command = [
                sys.executable,
                str(ROOT / "tests/attacks/as_user.py"),
                str(uid),
                *shown,
                "--",
                *command,
            ]
        self.home = home
        # In the worker's environment stands what nobody in a box may find.
        environment = {**os.environ, "TMPDIR": str(home), "HOME": str(home)}
        environment |= {CANARY: f"canary-{secrets.token_hex(8)}", "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def grade(self, handin: HandIn, folder: Path) -> Graded:
        """Raises RuntimeError when the grading process has died: no hand-in may do that."""
        assert self._process.stdin and self._process.stdout
        job = {"name": handin.name, "kind": handin.kind, "folder": str(folder), "seconds": handin.seconds}
        try:
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise RuntimeError(f"{handin.name}: the grading process ended: {self._process.wait()}")
        return Graded(**json.loads(line))

    def close(self) -> None:
        """Ends the process by ending its jobs."""
        with contextlib.suppress(BrokenPipeError):
            self._process.communicate(timeout=60)


def run(chosen: Sequence[HandIn], uid: int) -> Batch:
    """Grades all of `chosen` as the user `uid` (the caller's own, or one that root can become)."""
    with tempfile.TemporaryDirectory(prefix="shardlab-attacks-") as name:
        return _run(chosen, uid, Path(name))


def _run(chosen: Sequence[HandIn], uid: int, base: Path) -> Batch:
    base.chmod(0o755)
    course = test_course.lay_out(base / "course")
    (course.root / "canary.txt").write_text(f"canary-{secrets.token_hex(8)}")
    _close_to_writers(course.root)
    known = {handin.name: handin for handin in handins.everything()}
    folders = {h.name: _hand_in(course, h, base) for h in [*chosen, *(known[n] for n in NEIGHBOURS)]}
    batch = Batch()
    faults: list[BaseException] = []
    todo: queue.SimpleQueue[HandIn] = queue.SimpleQueue()
    # those that wait for a time limit first: the others are graded meanwhile
    for handin in sorted(chosen, key=lambda h: -(h.seconds or 0)):
        todo.put(handin)
    workers = [Worker(course, uid, base / f"tmp-{number}") for number in range(3)]

    def attack(worker: Worker) -> None:
        try:
            for warm in NEIGHBOURS:
                worker.grade(known[warm], folders[warm])
            while True:
                handin = todo.get_nowait()
                batch.graded[handin.name] = worker.grade(handin, folders[handin.name])
        except queue.Empty:
            pass
        except BaseException as error:
            faults.append(error)

    try:
        for name in NEIGHBOURS:  # what is started once a process is there before anything is counted
            workers[2].grade(known[name], folders[name])
        threads = [threading.Thread(target=attack, args=(worker,)) for worker in workers[:2]]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            for name in NEIGHBOURS:
                batch.neighbours.append(workers[2].grade(known[name], folders[name]))
        for thread in threads:
            thread.join()
    finally:
        for worker in workers:
            worker.close()
    if faults:
        raise faults[0]
    batch.outside = _outside(course, base)
    return batch


def _hand_in(course: Course, handin: HandIn, base: Path) -> Path:
    folder = base / "submitted" / handin.name
    if folder.exists():
        return folder
    folder.mkdir(parents=True)
    if handin.kind == "lab":
        (folder / "lab.py").write_text(handin.text)
    else:
        made = json.dumps(handins.notebook(course, handin.text))
        (folder / f"{test_course.NOTEBOOK}.ipynb").write_text(made)
    return folder


def _close_to_writers(root: Path) -> None:
    for path in (root, *root.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _outside(course: Course, base: Path) -> list[str]:
    """Files that a hand-in left where other programs of the machine see them."""
    places = [Path("/tmp"), Path("/dev/shm"), Path("/var/tmp"), base]
    marked = [str(path) for place in places for path in place.glob("shardlab-around*")]
    return marked + [str(path) for path in course.root.rglob("shardlab-around*")]
