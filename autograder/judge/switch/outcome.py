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

    def digest(self) -> str:
        """A hash of what the ranks called that comes out the same whenever the same code meets the same inputs.

        How far a rank had come when others ended the case depends on who was faster, so such a rank does not enter:
        where every rank is done, or nobody can go on, all of them do; else those that ended by what they did
        themselves; and where the case was cut off, by the deadline or because ranks parted ways, none.
        """
        done = all(end.how == "done" for end in self.ends)
        if self.how == "stuck" or (self.how == "ended" and done):
            return self.trace.digest()
        if self.how != "ended":
            return self.trace.digest(())
        own = [rank for rank, end in enumerate(self.ends) if end.how not in ("done", "stopped")]
        return self.trace.digest([rank for rank in own if rank not in self.derived])


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
