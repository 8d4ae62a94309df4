"""One grader at a time for a course: nbgrader's gradebook has one writer."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

LOCK = Path(".shardlab/grade.lock")


class Taken(RuntimeError):
    """Another `shardlab grade` works on this course; the message says which process."""


@contextlib.contextmanager
def lock(root: Path) -> Iterator[None]:
    """Holds the course at `root` for this process; the kernel lets go of it however the process ends. Raises Taken, and
    OSError where the course's folder cannot be written.
    """
    path = root / LOCK
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            who = os.read(handle, 32).decode("ascii", "replace").strip() or "unknown"
            raise Taken(
                f"another `shardlab grade` is at work on {root} (process {who}): wait for it, or stop it with Ctrl-C"
            ) from None
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(handle)
