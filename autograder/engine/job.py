"""One hand-in to be graded, as it goes from the queue to whoever grades it: plain data, written as JSON."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Literal

import msgspec

from autograder.content import Assignment, Course
from autograder.handin import digest

Device = Literal["cpu", "cuda"]


class Needs(msgspec.Struct, frozen=True, kw_only=True):
    """What a job asks of a machine: `ranks` processes at most, `cores`, whole `gpus`, `memory_mib` of memory, and
    `seconds` of wall time that its own limits allow it.
    """

    ranks: int = 1
    cores: int = 1
    gpus: int = 0
    memory_mib: int = 0
    seconds: float = 0.0


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One hand-in of `student` in `folder`, below the course at `root`.

    `digest` is a hash of what was handed in and of the key that judges it; `id` names both, and a file can be called
    so; `handed_in` is when (seconds since 1970), `run` the grading run it belongs to.
    """

    id: str
    student: str
    assignment: str
    folder: str
    root: str
    digest: str
    needs: Needs
    handed_in: float = 0.0
    sandboxed: bool = True
    device: Device = "cpu"
    engine: str = "local"
    run: str = ""


def make(
    course: Course,
    assignment: Assignment,
    student: str,
    folder: Path,
    *,
    run: str,
    sandboxed: bool = True,
    device: Device = "cpu",
    engine: str = "local",
) -> Job:
    """The job of one hand-in as it lies there now."""
    whole = _digest(course, assignment, folder)
    name = hashlib.sha256("\0".join((student, assignment.name, whole)).encode()).hexdigest()[:24]
    stamp = folder / "timestamp.txt"
    return Job(
        id=name,
        student=student,
        assignment=assignment.name,
        folder=str(folder),
        root=str(course.root),
        digest=whole,
        needs=needs(course, assignment, device),
        handed_in=(stamp if stamp.is_file() else folder).stat().st_mtime,
        sandboxed=sandboxed,
        device=device,
        engine=engine,
        run=run,
    )


def needs(course: Course, assignment: Assignment, device: Device = "cpu") -> Needs:
    """What grading a hand-in of `assignment` may take, by the limits of course.toml or lab.toml. The ranks of a lab
    share one core: most of the time they wait for each other.
    """
    if assignment.lab is None:
        limits = course.limits
        return Needs(memory_mib=limits.memory_mib, seconds=limits.notebook_seconds)
    lab = course.labs[assignment.lab]
    cases = [case for task in lab.tasks for case in task.cases]
    ranks = max(case.world for case in cases)
    return Needs(
        ranks=ranks,
        gpus=ranks if device == "cuda" else 0,
        memory_mib=max(case.world * (case.memory_mib or lab.limits.memory_mib) for case in cases),
        seconds=sum(case.seconds or lab.limits.seconds for case in cases),
    )


def _digest(course: Course, assignment: Assignment, folder: Path) -> str:
    """A hash of all that decides a verdict but chance: the hand-in, when it was handed in, and the key."""
    whole = hashlib.sha256(digest.of_folder(folder).encode())
    stamp = folder / "timestamp.txt"
    whole.update(stamp.read_bytes() if stamp.is_file() and not stamp.is_symlink() else b"")
    keys = [
        assignment.notebook,
        *(path for path in [course.root / "quizbank/misconceptions.toml"] if path.is_file()),
    ]
    if assignment.lab is not None:
        folder = course.labs[assignment.lab].folder
        keys += [folder / name for name in ("lab.toml", "run.py", "checks.py")]
    for path in keys:
        whole.update(path.read_bytes() + b"\0" if path.is_file() else b"-")
    whole.update(json.dumps(msgspec.to_builtins(course.limits), sort_keys=True).encode())
    return whole.hexdigest()
