"""Judge side: the truth from plain sums and joins, and the sentences a ring has to keep.

Inputs are small whole numbers, so that every order of adding gives the same bits in every dtype.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from autograder.content import Case
from autograder.judge import invariants
from autograder.judge.lab import Finding, Inputs, compare
from autograder.judge.switch import Outcome, Trace

Tensor = torch.Tensor
_LARGEST = 40  # five ranks' sums stay below 256, which bfloat16 holds exactly


def given(task: str, case: Case, seed: int) -> list[Inputs]:
    """Every rank of the group gets `x` of the case's shape and dtype; the others get nothing."""
    generator = torch.Generator().manual_seed(seed)
    shape, dtype = tuple(case.given["shape"]), getattr(torch, case.given["dtype"])
    inputs: list[Inputs] = [{} for _ in range(case.world)]
    for rank in _group(case):
        magnitude = torch.randint(1, _LARGEST + 1, shape, generator=generator)
        sign = torch.randint(0, 2, shape, generator=generator) * 2 - 1
        inputs[rank] = {"x": (magnitude * sign).to(dtype)}
    return inputs


def truth(task: str, xs: list[Tensor]) -> list[Tensor]:
    """What each rank of the group has to return, from the inputs of all, in group order."""
    if task == "ring_all_gather":
        return [torch.cat(xs)] * len(xs)
    total = torch.stack([x.to(torch.float64) for x in xs]).sum(0).to(xs[0].dtype)
    if task == "ring_all_reduce":
        return [total] * len(xs)
    chunks = list(torch.chunk(total, len(xs)))
    return chunks + [total[:0]] * (len(xs) - len(chunks))


def judge(
    task: str,
    case: Case,
    inputs: list[Inputs],
    outputs: list[Inputs],
    trace: Trace,
    memory: Mapping[str, Any],
) -> list[Finding]:
    """Everything wrong with one case, the likeliest cause first."""
    group = _group(case)
    xs = [inputs[rank]["x"] for rank in group]
    right = truth(task, xs)
    expected: list[dict[str, Tensor]] = [{} for _ in range(case.world)]
    for rank, x, out in zip(group, xs, right, strict=True):
        expected[rank] = {"out": out, "x": x}
    wrong = compare(outputs, expected)
    if case.scramble:
        return [] if wrong else [_AROUND]
    found = [_named(task, group, xs, outputs, right, trace, wrong)] if wrong else []
    if len(group) > 1 and case.backend == "switch":
        found += [f for f in _traffic(task, group, xs[0], trace) if f]
    return found


_AROUND = Finding(
    "the switch changed every message on its way, and the result was right all the same: "
    "the data did not come through the sends and receives",
    "around-the-ring",
)


def _traffic(task: str, group: list[int], x: Tensor, trace: Trace) -> list[Finding | None]:
    """A ring sends n·S, n·S or 2n·S bytes a rank, to its neighbours only, in at least as many steps as it has."""
    n, length, item = len(group), x.numel(), x.element_size()
    per_rank, in_all, steps, text = {
        "ring_all_gather": (length * item, length * item * n, n - 1, "n"),
        "ring_reduce_scatter": (-(-length // n) * item, length * item, n - 1, "⌈L/N⌉"),
        "ring_all_reduce": (2 * -(-length // n) * item, 2 * length * item, 2 * (n - 1), "⌈L/N⌉"),
    }[task]
    twice = "2 · " if task == "ring_all_reduce" else ""
    neighbours = [
        invariants.talks_only_to(
            trace,
            rank,
            invariants.ring_neighbours(group, rank),
            "its neighbours in the ring",
            _off_ring(group, trace),
        )
        for rank in group
    ]
    most = invariants.sends_at_most(
        trace,
        group,
        (n - 1) * per_rank,
        f"{twice}(N−1) · {text} · {item} bytes",
        _too_much(task, group, x, trace),
    )
    least = invariants.all_send_at_least(
        trace, group, (n - 1) * in_all, f"{twice}(N−1) · S", "one-step-short"
    )
    # where a chunk is empty it need not be sent
    often = None
    if task == "ring_all_gather" or (n - 1) * -(-length // n) < length:
        often = invariants.sends_often_enough(
            trace, group, steps if length else 0, f"{twice}(N−1)", "one-step-short"
        )
    return [next((found for found in neighbours if found), None), most, least, often]


def _off_ring(group: list[int], trace: Trace) -> str | None:
    """A rank with far more traffic than the others, in and out, is a root that relays for all."""
    traffic = sorted(sum(call.bytes + call.received for call in trace.of(rank)) for rank in group)
    return "relay-through-root" if traffic[-1] > 1.5 * traffic[-2] else None


def _too_much(task: str, group: list[int], x: Tensor, trace: Trace) -> str | None:
    """Whoever gathers all inputs to add them sends (N−1) whole arrays."""
    whole = (len(group) - 1) * x.numel() * x.element_size()
    if task != "ring_all_gather" and all(invariants.bytes_sent(trace, rank) >= whole for rank in group):
        return "gather-then-sum"
    return _off_ring(group, trace)


def _named(
    task: str,
    group: list[int],
    xs: list[Tensor],
    outputs: list[Inputs],
    right: list[Tensor],
    trace: Trace,
    wrong: Finding,
) -> Finding:
    """The finding with the mistake its values or calls give away."""
    outs = [outputs[rank].get("out") for rank in group]
    mistake = None
    if any(call.waited is None for rank in group for call in trace.of(rank, "recv")):
        mistake = "missing-wait"
    elif all(_alike(out, want) for out, want in zip(outs, right, strict=True)):
        mistake = _by_values(task, group, xs, outs, right, trace)
    return Finding(wrong.text, mistake, wrong.evidence)


def _by_values(
    task: str,
    group: list[int],
    xs: list[Tensor],
    outs: list[Any],
    right: list[Tensor],
    trace: Trace,
) -> str | None:
    """What outputs of the right shapes and dtypes give away by their values."""
    n = len(group)
    if all(torch.equal(out, want) for out, want in zip(outs, right, strict=True)):
        return "input-overwritten"
    if task != "ring_all_gather" and all(
        torch.equal(out, (want.to(torch.float64) / n).to(want.dtype))
        for out, want in zip(outs, right, strict=True)
    ):
        return "mean-for-sum"
    if min(len(trace.of(rank, "send")) for rank in group) < (2 if task == "ring_all_reduce" else 1) * (n - 1):
        return "one-step-short"
    if task == "ring_reduce_scatter":
        others = [[want for want in right if want.shape == out.shape] for out in outs]
        if all(
            any(torch.equal(out, want) for want in wants) for out, wants in zip(outs, others, strict=True)
        ):
            return "shard-of-the-wrong-rank"
    if task == "ring_all_gather" and all(_same_chunks(out, xs) for out in outs):
        return "chunks-out-of-order"
    if task == "ring_all_reduce" and all(
        _same_chunks(out, list(torch.chunk(right[0].reshape(-1), n))) for out in outs
    ):
        return "chunks-out-of-order"
    return None


def _alike(out: Any, want: Tensor) -> bool:
    return isinstance(out, Tensor) and out.shape == want.shape and out.dtype == want.dtype


def _same_chunks(out: Tensor, chunks: list[Tensor]) -> bool:
    """Whether `out` is these chunks, each once, in some order."""
    sizes = {chunk.numel() for chunk in chunks}
    if len(sizes) != 1 or not min(sizes):
        return False
    rows = sorted(str(row.tolist()) for row in out.reshape(-1).split(chunks[0].numel()))
    return rows == sorted(str(chunk.tolist()) for chunk in chunks)


def explain(task: str, case: Case, outcome: Outcome) -> str | None:
    """The mistake behind a case that ended without outputs."""
    group = _group(case)
    trace = outcome.trace
    if any(not call.offered for call in trace):
        return "collective-called"
    if outcome.how == "stuck":
        last = [trace.of(rank)[-1:] for rank in group]
        if all(calls and calls[0].kind == "send" and calls[0].waited is not None for calls in last):
            return "send-then-receive"
    if case.group is not None:
        return "global-rank-for-group-rank"  # the cases before this one, in the whole world, have passed
    return None


def _group(case: Case) -> list[int]:
    return list(case.group) if case.group is not None else list(range(case.world))
