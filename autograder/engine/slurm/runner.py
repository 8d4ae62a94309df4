"""Grades jobs in allocations of a Slurm cluster: an engine that submits, asks and gathers; the nodes grade."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from pathlib import Path

from autograder import content
from autograder.engine.events import Event, Told, Unwritable
from autograder.engine.job import Job
from autograder.engine.slurm import chunks
from autograder.engine.slurm.chunks import Chunk
from autograder.engine.slurm.commands import NotAnswering, Refused, Slurm
from autograder.engine.slurm.states import State
from autograder.engine.slurm.states import Told as Known
from autograder.engine.spool import Spool

TICK_SECONDS = 0.2
BACK_OFF = 8
"""While Slurm does not answer, it is asked more and more seldom: up to this many times the usual wait."""
UNSEEN_MOST = 3
"""So many answers in a row in which a job is missing, and it is lost."""

_SENTENCES = {
    State.OUT_OF_TIME: "the allocation's time limit was reached while it was alone in it",
    State.OUT_OF_MEMORY: "the allocation's memory limit was reached while it was alone in it",
    State.CANCELLED: "its allocation was cancelled",
    State.NODE_FAILED: "the node of its allocation failed",
    State.LOST: "its allocation is not known to Slurm any more",
    State.FAILED: "its allocation failed",
    State.ENDED: "its allocation ended without a result of it",
}


class SlurmEngine:
    """See `events.Engine`. `folder` lies on a file system that the nodes share; chunks found there are gone on with."""

    def __init__(self, how: content.Slurm, folder: Path) -> None:
        """Raises SlurmError where Slurm's commands are not there."""
        self._how, self._folder = how, folder
        self._slurm = Slurm()
        self._chunks: list[Chunk] = []
        self._unseen: dict[str, int] = {}
        self._number = 0

    def run(self, jobs: Sequence[Job], spool: Spool, told: Told) -> None:
        """See `Engine.run`. What `told` raises cancels the allocations."""
        self._chunks, self._unseen = [], {}
        self._spool, self._told = spool, told
        try:
            self._adopt(jobs)
            silent = 0
            while True:
                try:
                    self._poll()
                    silent = 0
                except NotAnswering as error:
                    silent += 1
                    self._say(f"Slurm does not answer, asked again in a while; no job is given up: {error}")
                if not self._chunks:
                    return
                self._wait(self._how.poll_seconds * min(2 ** min(silent, 8), BACK_OFF))
        except BaseException as error:
            self._give_up()
            if isinstance(error, OSError) and not isinstance(error, Unwritable):
                raise Unwritable(error.errno, f"{self._folder}: {error.strerror}") from error
            raise

    def _say(self, sentence: str) -> None:
        self._told(Event("word", why=sentence))

    def _wait(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self._told(Event("tick"))
            time.sleep(min(left, TICK_SECONDS))

    def _adopt(self, jobs: Sequence[Job]) -> None:
        """Finds the chunks of a grader that was ended, and cuts what is in none of them."""
        left = {job.id: job for job in jobs}
        for chunk in reversed(
            chunks.found(self._folder)
        ):  # the newest first: a job counts in its last chunk only
            self._number = max(self._number, chunks.number(chunk.folder))
            ours = [job for job in chunk.written.jobs if job.id in left and left[job.id].run == job.run]
            chunk.wanted = {job.id: left.pop(job.id) for job in ours}
            self._chunks.append(chunk)
        for job in left.values():
            self._told(Event("queued", job))
        for piece in chunks.cut(left.values(), self._how):
            self._make(piece)

    def _make(self, piece: Sequence[Job], resubmitted: int = 0) -> None:
        self._number += 1
        chunk = chunks.write(self._folder, piece, self._how, number=self._number, resubmitted=resubmitted)
        self._chunks.append(chunk)

    def _poll(self) -> None:
        """One question to Slurm about all chunks; then what is new is submitted, and what is there gathered."""
        by_name = {told.name: told for told in self._slurm.all()}
        for chunk in list(self._chunks):
            known = by_name.get(chunk.name)
            if not chunk.id and known is not None:
                chunk.note_id(known.id)  # submitted by a grader that was ended before it noted the id
            self._gather(chunk)
            if not chunk.wanted:
                self._leave(chunk, known)
            elif not chunk.id and not chunk.ended:
                self._submit(chunk)
            else:
                self._see(chunk, known)

    def _submit(self, chunk: Chunk) -> None:
        """Called only after Slurm has said that it has no job of this chunk's name."""
        for job in chunk.wanted.values():
            self._told(Event("started", job))
        try:
            chunk.note_id(self._slurm.submit(chunk.folder / "job.sh", [f"--chdir={chunk.folder}"]))
        except Refused as error:
            for job in list(chunk.wanted.values()):
                self._block(chunk, job, f"Slurm does not take it: {error}")
            self._drop(chunk)

    def _see(self, chunk: Chunk, known: Known | None) -> None:
        state = self._state(chunk, known)
        if not state.over:
            return
        self._gather(chunk)  # what was written between the last look and the end
        self._gather_blocked(chunk, state)
        left = list(chunk.wanted.values())
        again = chunk.written.resubmitted + 1
        if not left:
            pass
        elif state in (State.OUT_OF_TIME, State.OUT_OF_MEMORY) and len(chunk.written.jobs) > 1:
            self._say(f"{chunk.name} ran {state.value}: its {len(left)} hand-ins left go on one a job")
            for job in left:
                self._make([job], chunk.written.resubmitted)
        elif state in (State.OUT_OF_TIME, State.OUT_OF_MEMORY) or again > self._how.resubmits:
            for job in left:
                self._block(chunk, job, self._sentence(chunk, state))
        else:
            self._say(
                f"{chunk.name}: {_SENTENCES[state]}; submitted again ({again} of {self._how.resubmits})"
            )
            self._make(left, again)
        chunk.wanted = {}
        self._drop(chunk)

    def _state(self, chunk: Chunk, known: Known | None) -> State:
        """The state of a chunk. One that Slurm has forgotten has ended if its pool says so, and else is lost."""
        if known is None and chunk.id:
            known = self._slurm.one(chunk.id)
            if known is not None and known.name != chunk.name:
                known = None  # a controller that began anew counts from 1 again
        if known is not None:
            self._unseen.pop(chunk.name, None)
            return known.state
        if chunk.ended:
            return State.ENDED
        self._unseen[chunk.name] = self._unseen.get(chunk.name, 0) + 1
        return State.LOST if self._unseen[chunk.name] >= UNSEEN_MOST else State.RUNNING

    def _gather(self, chunk: Chunk) -> None:
        for job in list(chunk.wanted.values()):
            found = chunk.spool.take(job)
            if found is not None:
                self._spool.put(job, *found)
                del chunk.wanted[job.id]
                self._told(Event("finished", job))

    def _gather_blocked(self, chunk: Chunk, state: State) -> None:
        """What a chunk's pool gave up on is believed, unless the allocation's own limit may have been the cause."""
        if state in (State.OUT_OF_TIME, State.OUT_OF_MEMORY):
            return
        for job in list(chunk.wanted.values()):
            why = chunk.why(job)
            if why:
                self._block(chunk, job, why)

    def _block(self, chunk: Chunk, job: Job, why: str) -> None:
        del chunk.wanted[job.id]
        self._told(Event("failed", job, why=why))

    def _sentence(self, chunk: Chunk, state: State) -> str:
        w = chunk.written
        why = _SENTENCES[state]
        if state in (State.OUT_OF_TIME, State.OUT_OF_MEMORY):
            return f"{why} ({w.minutes} min, {w.memory_mib} MiB): a limit of the machine's"
        why += f", and so {w.resubmitted + 1} times" if w.resubmitted else ""
        said = chunk.log() if state in (State.FAILED, State.ENDED) else ""
        return f"{why} (Slurm job {chunk.id})" + (f"; it said: {said}" if said else "")

    def _leave(self, chunk: Chunk, known: Known | None) -> None:
        """Sees to a chunk of which nothing is waited for: one whose results are all there may end by itself."""
        runs = bool(chunk.id) and not chunk.ended and not self._state(chunk, known).over
        if runs and all(chunk.spool.take(job) or chunk.why(job) for job in chunk.written.jobs):
            return
        if runs:
            self._slurm.cancel([chunk.id])
        self._drop(chunk)

    def _drop(self, chunk: Chunk) -> None:
        chunk.remove()
        self._chunks.remove(chunk)

    def _give_up(self) -> None:
        """Cancels what runs. What is graded by then goes to the run's spool, where the next start finds it. Raises
        nothing: where Slurm does not answer, the chunks stay, and the next start goes on with them.
        """
        with contextlib.suppress(NotAnswering, OSError):
            by_name = {known.name: known for known in self._slurm.all()}
            self._slurm.cancel([by_name[c.name].id for c in self._chunks if c.name in by_name])
            for chunk in list(self._chunks):
                for job in chunk.wanted.values():
                    found = chunk.spool.take(job)
                    if found is not None:
                        self._spool.put(job, *found)
                self._drop(chunk)
