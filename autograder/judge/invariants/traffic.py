"""What collectives cost a rank, counted at the switch.

The cost of a call is what a ring would put on a rank's link, in bytes sent, with n ranks and S bytes of the whole array
(Thakur, Rabenseifner, Gropp 2005, and the ring algorithm of NCCL):

    all_gather, reduce_scatter, all_to_all   (n-1)/n · S
    all_reduce                               2 · (n-1)/n · S
    broadcast, reduce                        S, pipelined through all ranks
    gather, scatter                          (n-1)/n · S at the root, S/n elsewhere
    send                                     what is sent
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from autograder.judge.invariants.ring import FREE_BYTES
from autograder.judge.invariants.steps import Steps
from autograder.judge.lab import Finding
from autograder.judge.switch import Call, Trace

COLLECTIVES = (
    "all_gather",
    "reduce_scatter",
    "all_reduce",
    "broadcast",
    "reduce",
    "gather",
    "scatter",
    "all_to_all",
)


def cost(call: Call) -> Fraction:
    """Bytes a rank's link carries for its part in a call, see above."""
    n = len(call.group)
    size = Fraction(sum(call.sizes))
    match call.kind:
        case "all_gather":
            return (n - 1) * size  # `size` is the shard
        case "reduce_scatter" | "all_to_all":
            return size * (n - 1) / n
        case "all_reduce":
            return 2 * size * (n - 1) / n
        case "broadcast" | "reduce":
            return size if n > 1 else Fraction(0)
        case "gather":
            return (n - 1) * size if call.root == call.rank else size
        case "scatter":
            return size * (n - 1) if call.root == call.rank else size
        case "send":
            return size
        case _:
            return Fraction(0)


def costs(calls: Iterable[Call]) -> Fraction:
    """The cost of these calls together."""
    return sum((cost(call) for call in calls), Fraction(0))


def large(calls: Iterable[Call]) -> tuple[Call, ...]:
    """Without counters and metadata: calls of more than 1 KiB."""
    return tuple(call for call in calls if sum(call.sizes) > FREE_BYTES)


def a_step_costs_at_most(
    steps: Steps, rank: int, most: Fraction | int, formula: str, mistake: str | None = None
) -> Finding | None:
    """From the second step on, no step of a rank costs more than `most` bytes."""
    for step in range(1, steps.count):
        measured = costs(steps.calls(rank, step))
        if measured > most + FREE_BYTES:
            text = f"step {step} of rank {rank} moves {_bytes(measured)}; at most {formula} = {_bytes(most)} are needed"
            return Finding(text, mistake, _figures("bytes a step", most, measured))
    return None


def in_all(
    trace: Trace,
    rank: int,
    most: Fraction | int,
    formula: str,
    mistake: str | None = None,
) -> Finding | None:
    """The whole run of a rank, constructors and first step included, costs at most `most` bytes. Rests on the switch
    alone."""
    measured = costs(trace.of(rank))
    if measured > most + FREE_BYTES:
        text = f"rank {rank} moves {_bytes(measured)} in the whole run; {formula} = {_bytes(most)} are enough"
        return Finding(text, mistake, _figures("bytes in all", most, measured))
    return None


def at_least_in_all(
    trace: Trace,
    rank: int,
    kinds: Sequence[str],
    least: Fraction | int,
    formula: str,
    mistake: str | None = None,
) -> Finding | None:
    """The calls of these kinds of a rank cost at least `least` bytes: with less, data came some other way."""
    measured = costs(trace.of(rank, *kinds))
    if measured < least:
        names = " and ".join(kinds)
        text = f"rank {rank} moves {_bytes(measured)} by {names} in all; {formula} = {_bytes(least)} have to travel"
        return Finding(text, mistake, _figures(f"bytes by {names}", least, measured))
    return None


def makes_no(
    calls: Iterable[Call], kinds: Sequence[str], why: str, mistake: str | None = None
) -> Finding | None:
    """None of these calls, metadata aside, is of these kinds; `why` says what they do instead."""
    for call in large(calls):
        if call.kind in kinds:
            text = f"rank {call.rank} calls {call.kind} on {_bytes(sum(call.sizes))}: {why}"
            return Finding(text, mistake, {"rank": call.rank, "kind": call.kind, "bytes": sum(call.sizes)})
    return None


def makes_between(
    steps: Steps, rank: int, kind: str, fewest: int, most: int, formula: str, mistake: str | None = None
) -> Finding | None:
    """From the second step on, a rank makes between `fewest` and `most` calls of a kind a step, metadata aside."""
    for step in range(1, steps.count):
        measured = len(large(steps.calls(rank, step, kind)))
        if not fewest <= measured <= most:
            wanted = str(most) if fewest == most else f"{fewest} to {most}"
            text = f"step {step} of rank {rank} makes {measured} {kind} calls; {formula} = {wanted}"
            return Finding(text, mistake, _figures(f"{kind} calls a step", most, measured, ""))
    return None


def ranks_call_alike(steps: Steps, ranks: Sequence[int], mistake: str | None = None) -> Finding | None:
    """All ranks make the same calls in the same order: kind, bytes, dtype, reduction."""
    for step in range(steps.count):
        first = [_name(call) for call in steps.calls(ranks[0], step) if call.kind in COLLECTIVES]
        for rank in ranks[1:]:
            other = [_name(call) for call in steps.calls(rank, step) if call.kind in COLLECTIVES]
            if other != first:
                place = next(
                    (n for n, (a, b) in enumerate(zip(first, other, strict=False)) if a != b),
                    min(len(first), len(other)),
                )
                a, b = _at(first, place), _at(other, place)
                text = f"call {place + 1} of step {step} is {a} on rank {ranks[0]} and {b} on rank {rank}"
                return Finding(text, mistake, {"step": step, "call": place})
    return None


def _name(call: Call) -> str:
    what = f"{call.kind} of {sum(call.sizes)} bytes of {call.dtype}"
    return f"{what}, {call.red}" if call.red else what


def _at(names: Sequence[str], place: int) -> str:
    return names[place] if place < len(names) else "nothing more"


def _figures(
    what: str, ideal: Fraction | int, measured: Fraction | int, unit: str = "B"
) -> dict[str, object]:
    return {"figure": {"what": what, "ideal": float(ideal), "measured": float(measured), "unit": unit}}


def _bytes(number: Fraction | int) -> str:
    return f"{float(number):,.0f} bytes"
