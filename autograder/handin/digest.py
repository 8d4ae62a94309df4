"""One hash for all that lies in a folder somebody handed in."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

from autograder.handin import preflight

STAMPS = ("timestamp.txt", "submission_secret.txt")
"""Said about a hand-in, not handed in."""


def of_folder(folder: Path) -> str:
    """The SHA-256 of names and contents below `folder`; `STAMPS` beside them do not count, links and pipes by their
    kind only. Empty where there is no such folder.
    """
    if not folder.is_dir():
        return ""
    whole = hashlib.sha256()
    for path, problem in preflight.walk(folder, most=preflight.LOOKED_MOST):
        if path.is_dir() and not path.is_symlink() and not problem:
            continue
        if path.parent == folder and path.name in STAMPS:
            continue
        content = problem.encode() if problem else _content(path)
        whole.update(os.fsencode(path.relative_to(folder)) + b"\0" + content + b"\0")
    return whole.hexdigest()


def _content(path: Path) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b"no file"
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return b"no file"
        try:
            return hashlib.file_digest(file, "sha256").hexdigest().encode()
        except OSError:
            return b"no content"
