"""Chunks of jobs: one allocation each, cut by what they need, kept in a folder on the shared file system.

A chunk's folder holds chunk.json (its jobs), job.sh (the script), id (Slurm's id, once it is known), spool/ (what is
graded), blocked/ (why a job could not be), ended (its pool came to its end) and slurm.log.
"""

from __future__ import annotations

import math
import shlex
import shutil
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from autograder import durable
from autograder.content import Slurm
from autograder.engine.job import Job
from autograder.engine.spool import Spool

START_SECONDS = 300.0
"""What an allocation gets beyond its hand-ins' own limits, to start and to end."""
OVERHEAD_MIB = 1024
"""What the pool and its workers get beyond their hand-ins' own limits."""


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """chunk.json. `resubmitted`: how often its jobs were cancelled, lost or on a node that failed before."""

    name: str
    jobs: tuple[Job, ...]
    cores: int
    gpus: int
    memory_mib: int
    minutes: int
    resubmitted: int = 0
    schema: int = 1


@dataclass
class Chunk:
    """One chunk and its folder. `wanted`: the jobs by id whose result is still waited for."""

    folder: Path
    written: Written
    id: str = ""
    doubtful: bool = False  # it may have been submitted and its id not been noted
    wanted: dict[str, Job] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.wanted = self.wanted or {job.id: job for job in self.written.jobs}

    @property
    def name(self) -> str:
        return self.written.name

    @property
    def spool(self) -> Spool:
        """What is graded, before it goes to the run's own spool."""
        return Spool(self.folder / "spool")

    @property
    def ended(self) -> bool:
        """Whether its pool came to its end."""
        return (self.folder / "ended").exists()

    def why(self, job: Job) -> str:
        """Why `job` could not be graded, as its pool says; empty where it does not."""
        path = self.folder / "blocked" / job.id
        return path.read_text(encoding="utf-8") if path.exists() else ""

    def note_id(self, number: str) -> None:
        """Writes down Slurm's id, durably."""
        durable.write(self.folder / "id", number.encode())
        self.id, self.doubtful = number, False

    def log(self) -> str:
        """The end of what the allocation said."""
        path = self.folder / "slurm.log"
        if not path.exists():
            return ""
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4096))
            said = file.read()
        return " ".join(said.decode(errors="replace").split())[-300:]

    def remove(self) -> None:
        """Takes the folder away: chunk.json first, so that half a folder is no chunk any more."""
        (self.folder / "chunk.json").unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def cut(jobs: Iterable[Job], how: Slurm) -> list[list[Job]]:
    """Jobs that need the same of a machine together, in the order they were handed in, within the bounds of `how`."""
    alike: dict[tuple[int, int, int], list[Job]] = {}
    for job in sorted(jobs, key=lambda job: job.handed_in):
        alike.setdefault((job.needs.gpus, job.needs.memory_mib, job.needs.cores), []).append(job)
    pieces: list[list[Job]] = []
    for group in alike.values():
        piece: list[Job] = []
        for job in group:
            if piece and (
                len(piece) == how.chunk_jobs or _seconds([*piece, job], how) > 60 * how.chunk_minutes
            ):
                pieces.append(piece)
                piece = []
            piece.append(job)
        pieces.append(piece)
    return pieces


def _at_once(jobs: Sequence[Job], how: Slurm) -> int:
    if any(job.needs.gpus for job in jobs):
        return 1
    return max(1, min(len(jobs), how.cores // max(job.needs.cores for job in jobs)))


def _seconds(jobs: Sequence[Job], how: Slurm) -> float:
    """What these jobs may take by their own limits, side by side."""
    longest = max(job.needs.seconds for job in jobs)
    return max(longest, math.ceil(len(jobs) / _at_once(jobs, how)) * longest)


def write(folder: Path, jobs: Sequence[Job], how: Slurm, *, number: int, resubmitted: int = 0) -> Chunk:
    """Makes the folder of a chunk below `folder`; chunk.json comes last, and with it the chunk is there."""
    name = f"shardlab-{jobs[0].run}-{number:05d}"
    at_once = _at_once(jobs, how)
    written = Written(
        name=name,
        jobs=tuple(msgspec.structs.replace(job, engine="slurm") for job in jobs),
        cores=at_once * max(job.needs.cores for job in jobs),
        gpus=max(job.needs.gpus for job in jobs),
        memory_mib=at_once * max(job.needs.memory_mib for job in jobs) + OVERHEAD_MIB,
        minutes=math.ceil((_seconds(jobs, how) + START_SECONDS) / 60),
        resubmitted=resubmitted,
    )
    place = folder / name
    (place / "spool").mkdir(parents=True, exist_ok=True)
    durable.write(place / "job.sh", script(place, written, how).encode())
    durable.write(place / "chunk.json", msgspec.json.encode(written))
    return Chunk(place, written)


def script(folder: Path, chunk: Written, how: Slurm) -> str:
    """The batch script: what it asks for is in it, so that a person can read and submit it too."""
    options = [f"--job-name={chunk.name}", f"--comment={chunk.name}"]
    options += [
        f"--{name}={value}" for name in ("partition", "account", "qos") if (value := getattr(how, name))
    ]
    options += ["--nodes=1", "--ntasks=1", f"--cpus-per-task={chunk.cores}", f"--mem={chunk.memory_mib}M"]
    options += [f"--time={chunk.minutes}"]
    if chunk.gpus:
        options.append(f"--gres=gpu:{how.gpu_type + ':' if how.gpu_type else ''}{chunk.gpus}")
    options += ["--no-requeue", "--export=NONE", "--output=slurm.log", *how.extra]
    lines = "\n".join(f"#SBATCH {option}" for option in options)
    run = shlex.join([sys.executable, "-m", "autograder.engine.chunk", str(folder)])
    return f"#!/bin/bash\n{lines}\nexec {run}\n"


def found(folder: Path) -> list[Chunk]:
    """The chunks that an earlier grader left below `folder`, the oldest first. What is no whole chunk is taken away."""
    for path in folder.glob("shardlab-*"):
        if not (path / "chunk.json").exists():
            shutil.rmtree(path, ignore_errors=True)
    chunks = []
    for path in sorted(folder.glob("shardlab-*/chunk.json"), key=lambda path: number(path.parent)):
        chunk = Chunk(path.parent, msgspec.json.decode(path.read_bytes(), type=Written))
        noted = path.parent / "id"
        chunk.id = noted.read_text() if noted.exists() else ""
        chunk.doubtful = not chunk.id
        chunks.append(chunk)
    return chunks


def number(folder: Path) -> int:
    """The number in a chunk's name: later ones are newer."""
    return int(folder.name.rpartition("-")[2])
