"""What the switch knows of one rank."""

from __future__ import annotations

from autograder.judge.switch.matching import Answer
from autograder.judge.switch.messages import End, Group, Pending
from autograder.judge.switch.wire import Port


class RankState:
    """One rank: its socket, its groups by number, its calls by sequence number.

    `open`: not complete yet; `held`: complete, and kept back until the rank waits; `waits`: those it stands still for.
    `bytes` are on their way in open calls. `alone`: no other thread of the rank runs while it waits, as it says.
    """

    def __init__(self, number: int, port: Port) -> None:
        self.number = number
        self.port = port
        self.groups: dict[int, Group] = {}
        self.calls = 0
        self.marks = 0
        self.bytes = 0
        self.open: dict[int, Pending] = {}
        self.waits: dict[int, Pending] = {}
        self.held: dict[int, Answer] = {}
        self.alone = True
        self.last = ""
        self.end: End | None = None
