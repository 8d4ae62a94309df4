"""What a runner tells while it runs, and what every runner is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from autograder.engine.job import Job
from autograder.engine.spool import Spool

Kind = Literal["queued", "started", "again", "finished", "failed", "replaced", "word", "tick"]


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    - `queued`: waits; `started`: about to run in `slot`. It starts when the caller has returned, so that what it writes
      down comes first
    - `again`: its worker or box died (`why`), and it is tried once more
    - `finished`: its result lies in the spool
    - `failed`: it has no result and gets none: `why`, for the verdict `blocked`
    - `replaced`: it is dropped for a newer hand-in of the same learner, `by`
    - `word`: something to tell the person watching, in `why`, about no job
    - `tick`: nothing happened. Comes about five times a second, so that the caller can stop a runner by raising
    """

    kind: Kind
    job: Job | None = None
    slot: int = 0
    why: str = ""
    by: Job | None = None


Told = Callable[[Event], None]


class Unwritable(OSError):
    """Results cannot be written: the disk is full, or the folder read-only. Nothing is lost; the run stops."""


class Engine(Protocol):
    """Runs jobs somewhere."""

    def run(self, jobs: Sequence[Job], spool: Spool, told: Told) -> None:
        """Runs all jobs and returns when each has `finished`, `failed` or was `replaced`. What `told` raises ends the
        run: its processes are ended first. Raises Unwritable.
        """
