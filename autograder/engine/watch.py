"""Looks at what is handed in while grading goes on: new and changed hand-ins become jobs once they lie still."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from autograder.engine.handins import HandIn
from autograder.engine.job import Job

STILL_SECONDS = 2.0
LOOK_SECONDS = 1.0

_Look = tuple[tuple[str, int, int], ...]


class Watch:
    """Called now and then, it gives the jobs of hand-ins that came or changed since; None once `stop` was called."""

    def __init__(
        self,
        seen: Iterable[HandIn],
        find: Callable[[], Iterable[HandIn]],
        make: Callable[[HandIn], Job],
    ) -> None:
        """`find` lists what is handed in, `make` makes a job of one. `seen` are graded as they lie there now or later;
        what changes in them from now on is found.
        """
        self._find, self._make = find, make
        self._done: dict[HandIn, _Look] = {hand_in: _look(hand_in.folder) for hand_in in seen}
        self._moving: dict[HandIn, tuple[_Look, float]] = {}
        self._next = 0.0
        self._stopped = False

    def stop(self) -> None:
        """No more jobs from now on."""
        self._stopped = True

    def __call__(self) -> list[Job] | None:
        if self._stopped:
            return None
        now = time.monotonic()
        if now < self._next:
            return []
        self._next = now + LOOK_SECONDS
        return [self._make(hand_in) for hand_in in self._find() if self._is_new(hand_in, now)]

    def _is_new(self, hand_in: HandIn, now: float) -> bool:
        seen = _look(hand_in.folder)
        if seen == self._done.get(hand_in):
            self._moving.pop(hand_in, None)
            return False
        before, since = self._moving.get(hand_in, (None, now))
        if before != seen:
            self._moving[hand_in] = seen, now
            return False
        if now - since < STILL_SECONDS:
            return False
        del self._moving[hand_in]
        self._done[hand_in] = seen
        return True


def _look(folder: Path) -> _Look:
    """Names, sizes and times below `folder`: enough to see that something changed."""
    found = []
    for here, folders, files in os.walk(folder, followlinks=False):
        folders.sort()
        for name in sorted(files):
            try:
                info = (Path(here) / name).lstat()
            except OSError:
                continue  # it goes away while we look: the next look tells
            found.append((str(Path(here) / name), info.st_size, info.st_mtime_ns))
    return tuple(found)
