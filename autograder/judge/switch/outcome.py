"""What a case's switch is told to do, and how the case ended."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.judge.switch.messages import End, Pending
from autograder.judge.switch.trace import Call, Trace
from autograder.judge.switch.wire import MAX_PAYLOAD


@dataclass(frozen=True)
class Rules:
    """What one case's switch does. `offered`: the kinds of calls it carries out (None: all). `hold`: a call is answered
    only when its rank waits for it. `scramble`: messages between ranks arrive changed, see `p2p.scrambled`."""

    offered: frozenset[str] | None = None
    hold: bool = False
    scramble: bool = False
    max_payload: int = MAX_PAYLOAD


@dataclass(frozen=True)
class Outcome:
    """How a case ended.

    `how`: `ended` (every rank has; see `ends`), `parted`, `stuck` (nobody can go on) or `deadline`. `text` says it in
    words; `picture` shows who waits for whom, for the last two. `derived`: ranks that failed only because another had
    ended before.
    """

    how: str
    text: str
    picture: str
    ends: tuple[End, ...]
    derived: frozenset[int]
    trace: Trace
    seconds: float


def record(call: Pending) -> Call:
    """The frozen record of a call, for the trace."""
    return Call(
        rank=call.rank,
        seq=call.seq,
        kind=call.kind,
        group=call.group.ranks,
        bytes=call.sent,
        received=call.received,
        dtype=call.dtype,
        red=call.red,
        peer=call.peer,
        root=call.root,
        tag=call.tag,
        sizes=call.sizes,
        offered=call.offered,
        order=call.order,
        waited=call.waited,
        done=call.done,
    )
