"""Brings calls together: collectives by their place in a group's order, sends with receives."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from autograder.judge.switch import collectives
from autograder.judge.switch.dtypes import Bytes
from autograder.judge.switch.messages import Group, Pending
from autograder.judge.switch.p2p import Mailbox, scrambled
from autograder.judge.switch.picture import Wait

Answer = tuple[Pending, list[Bytes], int]
"""A call that is done, the pieces its rank gets back, the group rank they came from (-1: from all)."""

_PIECEWISE = frozenset({"all_gather", "all_to_all", "gather", "scatter"})


class Parted(Exception):
    """Ranks of a group called things that do not belong together; says who called what."""


@dataclass(slots=True)
class _Queue:
    """The collectives of one group: how many each rank has called, and the ones not complete yet by place."""

    counts: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    open: dict[int, dict[int, Pending]] = field(default_factory=lambda: defaultdict(dict))


class Matcher:
    """All calls on their way in one case."""

    def __init__(self, *, scramble: bool = False) -> None:
        self._queues: dict[Group, _Queue] = defaultdict(_Queue)
        self._mail = Mailbox()
        self._scramble = scramble

    def post(self, call: Pending) -> list[Answer]:
        """Takes a call in; returns the calls that are done by it. Raises Parted."""
        if call.kind in ("send", "recv"):
            return self._post_p2p(call)
        queue = self._queues[call.group]
        place = queue.counts[call.rank]
        queue.counts[call.rank] += 1
        together = queue.open[place]
        for other in together.values():
            if collectives.differs(other, call):
                raise Parted(_parted(place, [*together.values(), call]))
        together[call.rank] = call
        if len(together) < len(call.group.ranks):
            return []
        del queue.open[place]
        calls = [together[rank] for rank in call.group.ranks]
        misfit = collectives.unfit(calls) if call.kind in _PIECEWISE else None
        if misfit:
            raise Parted(
                f"rank {misfit[0].rank} and rank {misfit[1].rank} do not agree on the sizes of the pieces in their "
                f"{_nth(place)} collective in group {call.group}: {misfit[0]} against {misfit[1]}"
            )
        return [(c, pieces, -1) for c, pieces in zip(calls, collectives.carry_out(calls), strict=True)]

    def _post_p2p(self, call: Pending) -> list[Answer]:
        pair = self._mail.post(call)
        if pair is None:
            return []
        send, recv = pair
        if send.sizes != recv.sizes or send.dtype != recv.dtype:
            raise Parted(
                f"rank {send.rank} sends {send.total} bytes of {send.dtype} to rank {recv.rank}, "
                f"which receives into {recv.total} bytes of {recv.dtype}"
            )
        payload = scrambled(send.payload, send.dtype) if self._scramble else send.payload
        return [(send, [], -1), (recv, [payload], send.group.ranks.index(send.rank))]

    def drop(self, call: Pending) -> None:
        """Takes out a call that will never be done."""
        if call.kind in ("send", "recv"):
            self._mail.drop(call)

    def needs(self, call: Pending, gone: frozenset[int]) -> Wait:
        """What an unanswered call waits for; for a receive from anybody, the ranks of its group not in `gone`."""
        if call.kind in ("send", "recv"):
            if call.peer is not None:
                return Wait(call, (call.peer,))
            others = tuple(rank for rank in call.group.ranks if rank != call.rank)
            return Wait(call, tuple(rank for rank in others if rank not in gone) or others)
        for together in self._queues[call.group].open.values():
            if together.get(call.rank) is call:
                return Wait(call, tuple(rank for rank in call.group.ranks if rank not in together))
        return Wait(call, ())


def _parted(place: int, calls: list[Pending]) -> str:
    said: dict[str, list[int]] = defaultdict(list)
    for call in sorted(calls, key=lambda c: c.rank):
        said[_shown(call)].append(call.rank)
    parts = [
        f"{'ranks' if len(r) > 1 else 'rank'} {', '.join(map(str, r))}: {text}" for text, r in said.items()
    ]
    return (
        f"the ranks part ways at their {_nth(place)} collective in group {calls[0].group}: {'; '.join(parts)}. "
        "Every rank of a group must call the same collectives, with the same dtype and sizes, in the same order"
    )


def _shown(call: Pending) -> str:
    if call.red == "PREMUL_SUM":
        return f"{call} with factor {call.factor:g}"
    return f"{call} in tensors of {list(call.sizes)}" if len(call.sizes) > 1 else str(call)


def _nth(place: int) -> str:
    number = place + 1
    ending = "th" if 10 < number % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
