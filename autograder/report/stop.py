"""Stopping in an orderly way: the first Ctrl-C, or a SIGTERM, is heard at the next safe place; a second one at once."""

from __future__ import annotations

import signal
from types import FrameType
from typing import Any


class Stopped(Exception):
    """The person watching, or the machine, asked to stop. `signal` is the number."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.signal = number


class Stop:
    """A context manager around the work of a command; use it in the main thread."""

    def __init__(self) -> None:
        self._asked = 0
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Stop:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Raises Stopped when that was asked for."""
        if self._asked:
            raise Stopped(self._asked)

    def _hear(self, number: int, _frame: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = number
