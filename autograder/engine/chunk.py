"""Grades a chunk of jobs inside an allocation: `python -m autograder.engine.chunk FOLDER`, with the pool of this node.

FOLDER is a chunk's (see `engine.slurm.chunks`). What is graded already is left alone.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import msgspec

from autograder import durable
from autograder.engine import devices
from autograder.engine.events import Event
from autograder.engine.job import Job
from autograder.engine.pool import LocalPool
from autograder.engine.schedule import Gpu
from autograder.engine.spool import Spool


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What of chunk.json is read here."""

    jobs: tuple[Job, ...]
    memory_mib: int


class Ended(Exception):
    """Slurm has told us to end."""


def allocated(
    environment: Mapping[str, str], memory_mib: int, known: tuple[Gpu, ...]
) -> tuple[int, int, tuple[Gpu, ...]]:
    """The cores, the memory in MiB (`memory_mib` where Slurm does not say) and the GPUs that Slurm gave us: those
    `known` to the driver, which shows what we may see, else those that Slurm names.
    """
    cores = int(environment.get("SLURM_CPUS_PER_TASK", 0)) or len(os.sched_getaffinity(0))
    memory = int(environment.get("SLURM_MEM_PER_NODE", 0)) or memory_mib
    named = environment.get("CUDA_VISIBLE_DEVICES") or environment.get("SLURM_JOB_GPUS") or ""
    return cores, memory, known or tuple(Gpu(name.strip()) for name in named.split(",") if name.strip())


def main(words: list[str] | None = None) -> int:
    """Grades what is not graded yet; 0 when every job has a result or a reason, 1 when results cannot be kept, or the
    allocation is ended from outside.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args(words).folder
    given = msgspec.json.decode((folder / "chunk.json").read_bytes(), type=Given)
    cores, memory, gpus = allocated(os.environ, given.memory_mib, devices.gpus())
    pool = LocalPool(cores, memory, gpus, log=folder / "grade.log")
    signals: list[int] = []

    def told(event: Event) -> None:
        if event.kind == "failed" and event.job is not None:
            durable.write(folder / "blocked" / event.job.id, event.why.encode())
        if signals:
            raise Ended

    signal.signal(signal.SIGTERM, lambda number, _: signals.append(number))
    spool = Spool(folder / "spool")
    try:
        pool.run([job for job in given.jobs if spool.take(job) is None], spool, told)
    except Ended:
        return 1
    except OSError as error:
        print(error, file=sys.stderr)
        return 1
    durable.write(folder / "ended", b"")
    return 0


if __name__ == "__main__":
    sys.exit(main())
