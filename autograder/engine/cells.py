"""Runs the cells of one notebook in order, in a box, through crashes and endless loops.

A cell that ends the kernel, or cannot be interrupted, costs itself and nothing else: the cells above it are run again
in a fresh kernel, without it.
"""

from __future__ import annotations

import errno
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from autograder.content import Limits
from autograder.handin import inert, page
from autograder.judge.key import Key
from autograder.judge.talk import Heard, Talk
from autograder.sandbox.kernel import DISK_MIB, PROCESSES, BoxedKernel, Ended
from autograder.verdict import PartStatus

KERNELS_MOST = 6
"""Fresh kernels one hand-in may use up; what stands after the last crash is not run."""

OUTPUTS_MOST = 8
"""The outputs of a notebook together may be so many times those of one cell."""


_NO_THREAD = ("RuntimeError", "can't start new thread")


@dataclass(frozen=True)
class Trouble:
    """What went wrong in a cell. `what` goes on from "this cell" ("was stopped: …"); `text` is the cell's source."""

    status: PartStatus
    what: str
    text: str


@dataclass(frozen=True)
class Ran:
    """What one cell did: `trouble` is None when it ran through, `heard` what the judge heard during a check cell."""

    trouble: Trouble | None
    outputs: list[NotebookNode]
    heard: Heard | None = None


@dataclass
class Cells:
    """A context manager around the kernels of one hand-in; use it from one thread.

    `files` are shown in the working folder, `seed` draws the inputs of this hand-in. Raises KernelStartError and
    SandboxUnavailable: these are ours.
    """

    files: Path | None
    limits: Limits
    sandboxed: bool
    seed: bytes
    _kernel: BoxedKernel | None = None
    _talk: Talk | None = None
    _again: list[str] = field(default_factory=list)
    _used: int = 0
    _text: int = 0
    _pictures: int = 0
    _begun: float = field(default_factory=time.monotonic)

    def __enter__(self) -> Cells:
        self._fresh()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def run(self, code: str, key: Key | None = None) -> Ran:
        """Runs one cell; with `key` it is a check cell, and the judge listens to what it submits."""
        if not self._ready():
            why = f"was not run: the notebook's {self.limits.notebook_seconds:g} s, or its kernels, were used up above"
            return Ran(Trouble(PartStatus.TIMEOUT, why, code), [page.note(f"This cell {why}.")])
        cell = self.limits.output_kib * inert.KiB
        text = min(cell, OUTPUTS_MOST * cell - self._text)
        kept = inert.Outputs(text, OUTPUTS_MOST * inert.PICTURE_BYTES - self._pictures)
        pictures = kept.pictures_left
        ended, heard = self._execute(code, key, kept.hear)
        self._text += min(text, text - kept.left)
        self._pictures += pictures - kept.pictures_left
        trouble = self._trouble(ended, code)
        if ended.how == "dead":
            self._end()
        elif key is None and ended.how != "timeout":
            self._again.append(code)
        if ended.how in ("dead", "timeout") and trouble:
            kept.nodes.append(page.note(f"This cell {trouble.what}."))
        return Ran(trouble, kept.nodes, heard)

    def _execute(self, code: str, key: Key | None, hear: Any) -> tuple[Ended, Heard]:
        assert self._kernel is not None and self._talk is not None
        seconds = max(0.1, min(self.limits.cell_seconds, self._left()))
        self._talk.start(key, seed=self.seed, seconds=seconds + 5)
        try:
            ended = self._kernel.run(code, seconds=seconds, hear=hear)
        finally:
            heard = self._talk.finish()
        return ended, heard

    def _ready(self) -> bool:
        """Whether there is a kernel with all cells above run in it, and time left."""
        while self._left() > 0:
            if self._kernel is not None and self._kernel.alive():
                return True
            if self._kernel is not None:
                # It died between two cells: the last one did it, by a thread or a timer of its own.
                self._end()
                del self._again[-1:]
            if self._used >= KERNELS_MOST:
                return False
            self._fresh()
            for number, code in enumerate(self._again):
                ended, _ = self._execute(code, None, lambda *_: None)
                if ended.how == "dead":
                    del self._again[number]
                    self._end()
                    break
        return False

    def _fresh(self) -> None:
        self._used += 1
        self._kernel = BoxedKernel(
            self.files, memory_mib=self.limits.memory_mib, sandboxed=self.sandboxed
        ).__enter__()
        self._talk = Talk(self._kernel.judge, function_seconds=self.limits.function_seconds)

    def _end(self) -> None:
        if self._talk is not None:
            self._talk.close()
        if self._kernel is not None:
            self._kernel.close()
        self._talk, self._kernel = None, None

    def _left(self) -> float:
        return self.limits.notebook_seconds - (time.monotonic() - self._begun)

    def _trouble(self, ended: Ended, code: str) -> Trouble | None:
        limits = self.limits
        if ended.how == "ok":
            return None
        if ended.how == "timeout" or ended.killed:
            return Trouble(PartStatus.TIMEOUT, f"was stopped: longer than {limits.cell_seconds:g} s", code)
        limit = _limit(ended, limits)
        if limit:
            return Trouble(PartStatus.LIMIT, f"was stopped: {limit}", code)
        if ended.how == "dead":
            return Trouble(PartStatus.CRASHED, "ended the whole notebook process", code)
        if ended.name == "NotImplementedError":
            return Trouble(PartStatus.MISSING, "is not done yet (NotImplementedError)", code)
        said = f"{ended.name}: {ended.text}" if ended.text else ended.name
        return Trouble(PartStatus.FAILED, f"was stopped by {said[:300]}", code)


def _limit(ended: Ended, limits: Limits) -> str:
    """Which limit a cell reached, by what Python says of it; empty when none. A learner can raise the same errors, and
    then has the same said of an answer that is missing either way.
    """
    if ended.short or ended.name == "MemoryError":
        return f"more than {limits.memory_mib} MiB of memory"
    said = (ended.name, ended.text)
    if (said[0] == "BlockingIOError" and _number(errno.EAGAIN) in said[1]) or said == _NO_THREAD:
        return f"more than {PROCESSES} processes and threads"
    if said[0] == "OSError" and any(
        _number(one) in said[1] for one in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    ):
        return f"more than {DISK_MIB} MiB of files"
    return ""


def _number(error: int) -> str:
    return f"[Errno {error}]"
