"""First attempts, from the attempts log that a learner's notebook keeps and hands in.

The log is the learner's own file, so what it says is advisory: it is read within bounds, and what is not a line of ours
is passed over.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from autograder.learner import attempts

_RIGHT = frozenset({"right", "holds"})
_TRIED = _RIGHT | {"wrong", "unreadable"}
"""What a notebook says of an answer that is there, and that it could tell anything about."""


@dataclass(frozen=True)
class First:
    """How one learner came to one answer: whether the first try was right, and how many tries there were."""

    right: bool
    tries: int


def read(folder: Path) -> dict[str, First]:
    """The first attempts in a hand-in's folder, by `exercise/answer`; empty where there is no log."""
    tries: dict[str, list[bool]] = {}
    for entry in _lines(folder / attempts.NAME):
        for name, state in entry["said"].items():
            if isinstance(state, str) and state in _TRIED:
                tries.setdefault(f"{entry['exercise']}/{name}", []).append(state in _RIGHT)
    return {name: First(right[0], len(right)) for name, right in tries.items()}


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return
        text = file.read(2 * attempts.SIZE_LIMIT)
    for line in text.splitlines():
        try:
            entry = msgspec.json.decode(line, type=dict[str, Any])
        except (msgspec.MsgspecError, RecursionError):
            continue
        said = entry.get("said")
        if isinstance(entry.get("exercise"), str) and isinstance(said, dict):
            yield entry
