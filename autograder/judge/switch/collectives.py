"""Collectives: whether the calls of a group's ranks are one and the same, and what each rank gets back."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from autograder.judge.switch.arithmetic import reduce
from autograder.judge.switch.dtypes import Bytes
from autograder.judge.switch.messages import Pending

Pieces = list[Bytes]

_SAME_SIZES = frozenset({"all_reduce", "broadcast", "reduce", "reduce_scatter"})


def differs(first: Pending, second: Pending) -> bool:
    """True where two ranks' calls at the same place in a group's order cannot belong together."""
    if (first.kind, first.dtype, first.red, first.factor, first.root) != (
        second.kind,
        second.dtype,
        second.red,
        second.factor,
        second.root,
    ):
        return True
    if first.kind in _SAME_SIZES:
        return first.sizes != second.sizes or first.splits != second.splits
    if first.kind == "all_gather" and first.takes is None and second.takes is None:
        return first.sizes != second.sizes
    return len(first.sizes) != len(second.sizes) and first.kind == "all_gather"


def unfit(calls: Sequence[Pending]) -> tuple[Pending, Pending] | None:
    """Two calls whose pieces do not fit (one hands in what the other does not expect); None when all fit.
    `calls` are in group order."""
    for place, giver in enumerate(calls):
        for taker_place, taker in enumerate(calls):
            given = giver.splits[taker_place] if giver.splits is not None else giver.total
            if taker.takes is not None:
                fits = taker.takes[place] == given
            elif giver.kind == "scatter":
                fits = giver.splits is None or taker.total == given
            else:
                fits = giver.kind != "all_gather" or giver.sizes == taker.sizes
            if not fits:
                return giver, taker
    return None


def carry_out(calls: Sequence[Pending]) -> list[Pieces]:
    """What each rank gets back, in group order, as pieces to send one after another. `calls` are in group order and
    belong together; their payloads are not changed."""
    return _CARRY[calls[0].kind](calls)


def _barrier(calls: Sequence[Pending]) -> list[Pieces]:
    return [[] for _ in calls]


def _all_reduce(calls: Sequence[Pending]) -> list[Pieces]:
    total = _reduced(calls)
    return [[total] for _ in calls]


def _reduce(calls: Sequence[Pending]) -> list[Pieces]:
    total = _reduced(calls)
    return [[total] if call.rank == call.root else [] for call in calls]


def _reduced(calls: Sequence[Pending]) -> Bytes:
    first = calls[0]
    return reduce([call.payload for call in calls], first.dtype, first.red or "SUM", first.factor)


def _broadcast(calls: Sequence[Pending]) -> list[Pieces]:
    source = next(call.payload for call in calls if call.rank == call.root)
    return [[] if call.rank == call.root else [source] for call in calls]


def _all_gather(calls: Sequence[Pending]) -> list[Pieces]:
    pieces: Pieces = []
    start = 0
    for k, size in enumerate(calls[0].sizes):
        # one tensor after another, each from every rank; single tensors may differ in size between ranks
        pieces += [call.payload[start : start + call.sizes[k]] for call in calls]
        start += size
    return [pieces for _ in calls]


def _reduce_scatter(calls: Sequence[Pending]) -> list[Pieces]:
    total, first, count = _reduced(calls), calls[0], len(calls)
    if first.splits is not None:
        return [[piece] for piece in _cut(total, first.splits)]
    outputs: list[Pieces] = [[] for _ in calls]
    start = 0
    for size in first.sizes:
        for place, piece in enumerate(_cut(total[start : start + size], [size // count] * count)):
            outputs[place].append(piece)
        start += size
    return outputs


def _gather(calls: Sequence[Pending]) -> list[Pieces]:
    return [[c.payload for c in calls] if call.rank == call.root else [] for call in calls]


def _scatter(calls: Sequence[Pending]) -> list[Pieces]:
    root = next(call for call in calls if call.rank == call.root)
    return [[piece] for piece in _cut(root.payload, root.splits or ())]


def _all_to_all(calls: Sequence[Pending]) -> list[Pieces]:
    table = [_cut(call.payload, call.splits or ()) for call in calls]
    return [[row[place] for row in table] for place in range(len(calls))]


def _cut(data: Bytes, sizes: Sequence[int]) -> Pieces:
    pieces, start = [], 0
    for size in sizes:
        pieces.append(data[start : start + size])
        start += size
    return pieces


_CARRY: dict[str, Callable[[Sequence[Pending]], list[Pieces]]] = {
    "all_gather": _all_gather,
    "all_reduce": _all_reduce,
    "all_to_all": _all_to_all,
    "barrier": _barrier,
    "broadcast": _broadcast,
    "gather": _gather,
    "reduce": _reduce,
    "reduce_scatter": _reduce_scatter,
    "scatter": _scatter,
}
