"""Limits a process puts on itself before learner code runs, and how one ends every process it left behind."""

from __future__ import annotations

import os
import resource
import signal
import time
from pathlib import Path

MiB = 1 << 20
FILE_BYTES = 64 * MiB
NICENESS = 5


def apply(memory_bytes: int, *, processes: int | None = None, files: int | None = None) -> None:
    """No core files, no file above `FILE_BYTES`, below the judge in the queue for a core; with `memory_bytes` above 0,
    no more data memory than that; with `processes`, no more processes and threads of this user in this box; with
    `files`, no more open ones at once.

    RLIMIT_DATA counts what malloc and private mappings take; shared mappings and children escape it. RLIMIT_AS counts
    those too, but also the libraries' address space, hence the room.
    """
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, FILE_BYTES)
    if memory_bytes > 0:
        _lower(resource.RLIMIT_DATA, memory_bytes)
        _lower(resource.RLIMIT_AS, 2 * memory_bytes + (8 << 30))
    if processes is not None:
        _lower(resource.RLIMIT_NPROC, processes)
    if files is not None:
        _lower(resource.RLIMIT_NOFILE, files)
    os.nice(max(0, NICENESS - os.nice(0)))


def _lower(which: int, value: int) -> None:
    hard = resource.getrlimit(which)[1]
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(which, (value, value))


def end_descendants() -> None:
    """Kills every process below this one, daemons too, until none is left. Needs `linux.adopt_orphans()`."""
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


def end_namespace() -> None:
    """Kills every other process of the pid namespace whose first process this is, and waits until none is left."""
    try:
        os.kill(-1, signal.SIGKILL)
        while True:
            os.waitpid(-1, 0)
    except (ProcessLookupError, ChildProcessError):
        return


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
