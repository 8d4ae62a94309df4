"""A live queue: hand-ins as they come below `submitted/`, each once it has been still for a while."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from autograder.content import Course
from autograder.engine import handins
from autograder.engine.handins import HandIn
from autograder.engine.job import ENTRIES_MOST

STILL_SECONDS = 2.0
LOOK_SECONDS = 1.0

_Signature = tuple[int, int]


@dataclass
class _Seen:
    signature: _Signature
    since: float
    told: bool = False


class Watch:
    """Looks at most once a second, at names, sizes and times; a hand-in is told when these have not changed for
    `still` seconds, and again whenever they have changed and come to rest. `clock` counts seconds.
    """

    def __init__(
        self,
        course: Course,
        *,
        student: str = "",
        assignment: str = "",
        still: float = STILL_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._course, self._student, self._assignment = course, student, assignment
        self._still, self._clock = still, clock
        self._seen: dict[Path, _Seen] = {}
        self._next = 0.0

    def look(self) -> list[HandIn]:
        """The hand-ins that are new or changed, and still now."""
        now = self._clock()
        if now < self._next:
            return []
        self._next = now + LOOK_SECONDS
        submitted = self._course.root / "submitted"
        found = handins.find(self._course, submitted, student=self._student, assignment=self._assignment)
        ready = []
        for hand_in in found.hand_ins:
            signature = _signature(hand_in.folder)
            seen = self._seen.get(hand_in.folder)
            if seen is None or seen.signature != signature:
                self._seen[hand_in.folder] = _Seen(signature, now)
            elif not seen.told and now - seen.since >= self._still:
                seen.told = True
                ready.append(hand_in)
        there = {hand_in.folder for hand_in in found.hand_ins}
        self._seen = {folder: seen for folder, seen in self._seen.items() if folder in there}
        return ready


def _signature(folder: Path) -> _Signature:
    """Changes with every file that comes, goes, or is written to, however its times are set afterwards."""
    count, total = 0, 0
    waiting = [os.fsencode(folder)]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as entries:
                for entry in entries:
                    about = entry.stat(follow_symlinks=False)
                    count += 1
                    total ^= hash((entry.path, about.st_size, about.st_mtime_ns, about.st_ctime_ns))
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
        except OSError:
            total ^= hash((here, "unreadable"))
        if count > ENTRIES_MOST:
            break
    return count, total
