"""A temporary folder for a run, and the ones that runs left which were killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "shardlab-run-"
_LOCK = ".lock"


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A new temporary folder, taken away in the end; so are those of former runs whose process is no more."""
    _sweep(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _sweep(parent: Path) -> None:
    for folder in parent.glob(f"{_PREFIX}*"):
        if folder.is_symlink() or folder.stat(follow_symlinks=False).st_uid != os.geteuid():
            continue
        try:
            lock = os.open(folder / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue  # one in the making, or none of ours
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue  # its run goes on
        else:
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)
