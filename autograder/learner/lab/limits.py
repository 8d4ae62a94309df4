"""Limits a rank puts on itself before learner code runs, and how it ends every process it left behind."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import time
from pathlib import Path

MiB = 1 << 20
FILE_BYTES = 64 * MiB

_PR_SET_CHILD_SUBREAPER = 36


def apply(memory_bytes: int) -> None:
    """No core files, no file above `FILE_BYTES`; with `memory_bytes` above 0, no more data memory than that.

    RLIMIT_DATA counts what malloc and private mappings take; shared mappings and children escape it.
    """
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, FILE_BYTES)
    if memory_bytes > 0:
        _lower(resource.RLIMIT_DATA, memory_bytes)


def _lower(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


def adopt_orphans() -> None:
    """Daemons of learner code become children of this process, so that it can find and end them."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants() -> None:
    """Kills every process below this one, daemons too, until none is left. Needs `adopt_orphans()`."""
    while below := descendants(os.getpid()):
        for pid in below:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(0.002)


def descendants(pid: int) -> list[int]:
    """The process ids below `pid`: children, their children, and so on."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        tasks = Path(f"/proc/{waiting.pop()}/task")
        try:
            children = [int(c) for task in tasks.iterdir() for c in (task / "children").read_text().split()]
        except (FileNotFoundError, ProcessLookupError):
            continue  # it ended while we looked
        found += children
        waiting += children
    return found
