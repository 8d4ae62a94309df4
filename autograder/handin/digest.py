"""One hash for all that lies in a folder somebody handed in."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

STAMPS = ("timestamp.txt", "submission_secret.txt")
"""Said about a hand-in, not handed in."""


def of_folder(folder: Path) -> str:
    """The SHA-256 of names and contents below `folder`; `STAMPS` beside them do not count, links and pipes by their
    kind only. Empty where there is no such folder.
    """
    if not folder.is_dir():
        return ""
    whole = hashlib.sha256()
    for here, folders, files in os.walk(folder, followlinks=False):
        folders.sort()
        for name in sorted([*files, *(f for f in folders if (Path(here) / f).is_symlink())]):
            path = Path(here) / name
            if path.parent == folder and name in STAMPS:
                continue
            whole.update(os.fsencode(path.relative_to(folder)) + b"\0" + _content(path) + b"\0")
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
