"""Sentences about traffic, as checks that read like them. Each returns a Finding with formula, expected and measured,
or None where the sentence holds.

Bytes are what a rank handed to the switch. 1 KiB a rank is free: counters and metadata are no traffic.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from autograder.judge.lab import Finding
from autograder.judge.switch import Trace

FREE_BYTES = 1024


def bytes_sent(trace: Trace, rank: int, *kinds: str) -> int:
    """Bytes a rank handed in over its calls of these kinds (default: sends)."""
    return sum(call.bytes for call in trace.of(rank, *(kinds or ("send",))))


def sends_at_most(
    trace: Trace, ranks: Sequence[int], most: int, formula: str, mistake: str | None = None
) -> Finding | None:
    """No rank sends more than `most` bytes; `formula` says where the number comes from."""
    for rank in ranks:
        measured = bytes_sent(trace, rank)
        if measured > most + FREE_BYTES:
            return Finding(
                f"rank {rank} sent {measured} bytes; at most {formula} = {most} are needed",
                mistake,
                {"rank": rank, "bytes": measured, "expected": most, "formula": formula},
            )
    return None


def all_send_at_least(
    trace: Trace, ranks: Sequence[int], least: int, formula: str, mistake: str | None = None
) -> Finding | None:
    """The ranks together send at least `least` bytes: with less, data has come some other way."""
    measured = sum(bytes_sent(trace, rank) for rank in ranks)
    if measured < least:
        return Finding(
            f"the ranks sent {measured} bytes in all; {formula} = {least} have to travel",
            mistake,
            {"bytes": measured, "expected": least, "formula": formula},
        )
    return None


def talks_only_to(
    trace: Trace, rank: int, allowed: Collection[int], who: str, mistake: str | None = None
) -> Finding | None:
    """A rank sends to and receives from these ranks only; `who` names them."""
    for call in trace.of(rank, "send", "recv"):
        if call.peer not in allowed:
            peer = "anybody" if call.peer is None else f"rank {call.peer}"
            verb = "sends to" if call.kind == "send" else "receives from"
            names = " and ".join(f"rank {r}" for r in sorted(allowed)) or "nobody"
            return Finding(
                f"rank {rank} {verb} {peer}; {who} are {names}",
                mistake,
                {"rank": rank, "peer": call.peer, "allowed": sorted(allowed)},
            )
    return None


def sends_often_enough(
    trace: Trace, ranks: Sequence[int], least: int, formula: str, mistake: str | None = None
) -> Finding | None:
    """Every rank sends at least `least` times."""
    for rank in ranks:
        measured = len(trace.of(rank, "send"))
        if measured < least:
            return Finding(
                f"rank {rank} sent {measured} times; at least {formula} = {least} are needed",
                mistake,
                {"rank": rank, "sends": measured, "expected": least, "formula": formula},
            )
    return None


def ring_neighbours(group: Sequence[int], rank: int) -> frozenset[int]:
    """The ranks beside `rank` in a ring of `group` (global ranks in group order); none in a ring of one."""
    place, size = list(group).index(rank), len(group)
    return frozenset({group[(place + 1) % size], group[(place - 1) % size]} - {rank})
