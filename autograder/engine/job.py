"""One hand-in as work for a runner: what is to be graded, what it needs, and an id that names it for good.

A job travels as JSON between processes and machines; `id` is the same whenever the same bytes meet the same key.
"""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import msgspec

from autograder.content import Assignment, Course, Lab

READ_MOST = 64 << 20
"""Bytes of one file, and of all files of a hand-in, that its digest covers by content; size and time cover the rest."""

ENTRIES_MOST = 20_000
"""Files and folders of a hand-in that its digest looks at."""


class Needs(msgspec.Struct, frozen=True):
    """What a job takes: `ranks` processes of the learner's at most at once, `cores` it keeps busy, whole `gpus`,
    `memory_mib` set aside for it, and `seconds` of wall time it may take by the course's own limits.
    """

    ranks: int = 1
    cores: int = 1
    gpus: int = 0
    memory_mib: int = 0
    seconds: float = 180.0


class Job(msgspec.Struct, frozen=True):
    """One hand-in to be graded. `id` is fit for a file name; `digest` covers the hand-in's bytes and the key that
    judges it; `folder` and `root` (the course) are absolute paths; `handed_in` is seconds since 1970, for the order.
    """

    id: str
    student: str
    assignment: str
    folder: str
    digest: str
    needs: Needs
    sandboxed: bool
    run: str
    root: str
    device: str = "cpu"
    handed_in: float = 0.0
    engine: str = "local"

    @property
    def key(self) -> tuple[str, str]:
        """Whose hand-in for what: of two jobs with the same key only the newer counts."""
        return self.student, self.assignment


def make(
    course: Course,
    assignment: Assignment,
    student: str,
    folder: Path,
    *,
    sandboxed: bool,
    run: str,
    device: str = "cpu",
) -> Job:
    """The job that grades what lies in `folder` now. Never raises on what was handed in."""
    digest = hashlib.sha256(f"{folder_digest(folder)}\0{key_digest(course, assignment)}".encode()).hexdigest()
    name = f"{student}\0{assignment.name}\0{digest}\0{sandboxed}\0{device}"
    return Job(
        id=hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()[:32],
        student=student,
        assignment=assignment.name,
        folder=str(folder.absolute()),
        digest=digest,
        needs=needs(course, assignment, device),
        sandboxed=sandboxed,
        run=run,
        root=str(course.root),
        device=device,
        handed_in=handed_in(folder),
    )


def needs(course: Course, assignment: Assignment, device: str = "cpu") -> Needs:
    """What grading one hand-in of this assignment takes, by the limits of course.toml and lab.toml."""
    if assignment.kind != "lab":
        limits = course.limits
        return Needs(memory_mib=limits.memory_mib, seconds=limits.notebook_seconds)
    lab = course.labs[assignment.lab or ""]
    world = max(case.world for task in lab.tasks for case in task.cases)
    return Needs(
        ranks=world,
        cores=world,
        gpus=world if device == "cuda" else 0,
        memory_mib=max(_reserved(lab, case.world, case.memory_mib) for t in lab.tasks for case in t.cases),
        seconds=sum(case.seconds or lab.limits.seconds for t in lab.tasks for case in t.cases),
    )


def _reserved(lab: Lab, world: int, memory_mib: int | None) -> int:
    return world * min(lab.limits.reserve_mib, memory_mib or lab.limits.memory_mib)


def key_digest(course: Course, assignment: Assignment) -> str:
    """A hash of everything of the course that decides on this assignment."""
    found = hashlib.sha256(msgspec.json.encode(course.limits))
    paths = [assignment.notebook]
    if assignment.lab is not None:
        paths += [course.labs[assignment.lab].folder / name for name in ("lab.toml", "run.py", "checks.py")]
    found.update(msgspec.json.encode([course.misconceptions, [course.items[n] for n in assignment.items]]))
    for path in paths:
        # A file that is not there is said when the hand-in is graded, which is where it blocks.
        found.update(path.read_bytes() if path.is_file() else b"?")
        found.update(b"\0")
    return found.hexdigest()


def folder_digest(folder: Path) -> str:
    """A hash of what lies in a hand-in: names, kinds and contents. Follows no link and opens no pipe; what cannot be
    read counts by its name. Contents past `READ_MOST` count by size and time, entries past `ENTRIES_MOST` not at all.
    """
    found = hashlib.sha256()
    room, count = READ_MOST, 0
    waiting = [(os.fsencode(folder), b"")]
    while waiting:
        here, way = waiting.pop()
        try:
            with os.scandir(here) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            found.update(b"%s ? %d\0" % (way, error.errno or 0))
            continue
        for entry in inside:
            count += 1
            if count > ENTRIES_MOST:
                return found.hexdigest()
            name = way + b"/" + entry.name
            if entry.is_dir(follow_symlinks=False):
                found.update(b"d %s\0" % name)
                waiting.append((entry.path, name))
            else:
                content, taken = _content(entry.path, room)
                room -= taken
                found.update(b"f %s %s\0" % (name, content))
    return found.hexdigest()


def _content(path: bytes, room: int) -> tuple[bytes, int]:
    """What stands for the content of one file, and the bytes read of it."""
    try:
        about = os.lstat(path)
        if not stat.S_ISREG(about.st_mode):
            return b"odd %d %d" % (stat.S_IFMT(about.st_mode), about.st_mtime_ns), 0
        if about.st_size > room:
            return b"big %d %d" % (about.st_size, about.st_mtime_ns), 0
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            content = file.read(room)
    except OSError as error:
        return b"? %d" % (error.errno or 0), 0
    return hashlib.sha256(content).hexdigest().encode(), len(content)


def handed_in(folder: Path) -> float:
    """When this was handed in, in seconds since 1970: the time of its `timestamp.txt`, else that of the folder."""
    for path in (folder / "timestamp.txt", folder):
        try:
            return path.lstat().st_mtime
        except OSError:
            continue
    return 0.0
