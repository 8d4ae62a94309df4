"""Judge side: one process on all ranks' data is the truth, and what data parallelism keeps beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from autograder.content import Case
from autograder.judge import fixtures, naming
from autograder.judge.invariants import order, steps, traffic
from autograder.judge.lab import Finding, Inputs, compare
from autograder.judge.switch import Outcome, Trace

_REDUCE = ("all_reduce", "reduce_scatter")


def given(task: str, case: Case, seed: int) -> list[Inputs]:
    """A model, data and the size of a bucket for every rank, see `fixtures.given`."""
    return fixtures.given(case, seed)


def judge(
    task: str,
    case: Case,
    inputs: list[Inputs],
    outputs: list[Inputs],
    trace: Trace,
    memory: Mapping[str, Any],
) -> list[Finding]:
    """Everything wrong with one case, the likeliest cause first."""
    group = list(case.group or range(case.world))
    record = fixtures.truth(inputs, group)
    expected: list[dict[str, Any]] = [{} for _ in range(case.world)]
    for rank in group:
        expected[rank] = fixtures.per_step(record, "grad:", "param:") | fixtures.losses(record, rank)
    wrong = compare(outputs, expected, **fixtures.closeness(inputs[0]))
    found = [_named(task, case, group, inputs, outputs, record, trace, wrong)] if wrong else []
    if len(group) > 1 and case.backend == "switch":
        found += [finding for finding in _traffic(task, group, inputs[0], trace) if finding]
    return found


def _traffic(task: str, group: list[int], inputs: Inputs, trace: Trace) -> list[Finding | None]:
    n, count = len(group), int(inputs["steps"])
    all_bytes = sum(fixtures.sizes(inputs).values()) * fixtures.width(inputs)
    most = Fraction(2 * (n - 1), n) * all_bytes
    run = steps.of(trace, group, count)
    if isinstance(run, Finding):
        return [run]
    found: list[Finding | None] = []
    every = "every-micro-batch-reduced" if int(inputs["micro_batches"]) > 1 else None
    for rank in group:
        found.append(traffic.a_step_costs_at_most(run, rank, most, "2 (N−1)/N · P", every))
        # rank 0's weights to all, then one all-reduce a step
        whole = most * count + all_bytes * 2
        found.append(traffic.in_all(trace, rank, whole, "2P + steps · 2 (N−1)/N · P", every))
        kinds = (*_REDUCE, "all_gather")
        found.append(traffic.at_least_in_all(trace, rank, kinds, most * count, "steps · 2 (N−1)/N · P"))
    found.append(traffic.ranks_call_alike(run, group, "order-differs-by-rank"))
    if task == "overlap":
        last = int(inputs["micro_batches"]) - 1  # the one in which gradients travel
        found += [order.overlaps_backward(run, r, _REDUCE, "reduced-afterwards", last) for r in group]
    return found


def _named(
    task: str,
    case: Case,
    group: Sequence[int],
    inputs: Sequence[Inputs],
    outputs: Sequence[Inputs],
    record: Sequence[Mapping[str, Any]],
    trace: Trace,
    wrong: Finding,
) -> Finding:
    """The mistake that wrong values show, by the first loss and the first step's gradients."""
    n = len(group)
    right = {name[5:]: value for name, value in record[0].items() if name.startswith("grad:")}
    first_losses = fixtures.losses(record, group[-1])
    started = naming.tensors(outputs[group[-1]], "loss:0:")
    if not case.given.get("same_start", True) and not naming.same(
        started, {name[7:]: value for name, value in first_losses.items() if name.startswith("loss:0:")}
    ):
        return Finding(
            f"{wrong.text}: already the first loss is not that of rank 0’s weights", "different-start"
        )
    for rank in group:
        got = naming.tensors(outputs[rank], "grad:", 0)
        by = naming.factor(got, right)
        if n > 1 and by is not None and abs(by - n) < 1e-3:
            text = f"{wrong.text}: the gradients of the first step are {n} times the mean"
            return Finding(text, "nobody-divides-by-n")
        if n > 1 and by is not None and abs(by - 1 / n) < 1e-3:
            text = f"{wrong.text}: the gradients of the first step are 1/{n} of the mean"
            return Finding(text, "divided-twice")
        alone = {
            name[5:]: v for name, v in fixtures.truth(inputs, [rank])[0].items() if name.startswith("grad:")
        }
        alone_by = naming.factor(got, alone) if _same_start(case, rank, group) else None
        if n > 1 and alone_by is not None:
            waited = all(call.waited is not None for call in trace.of(rank, "all_reduce"))
            if trace.of(rank, "all_reduce") and not waited:
                return Finding(
                    f"{wrong.text}: rank {rank} read its gradients before they had arrived", "no-wait"
                )
            return Finding(
                f"{wrong.text}: rank {rank} steps with the gradients of its own data", "not-reduced"
            )
    return wrong


def _same_start(case: Case, rank: int, group: Sequence[int]) -> bool:
    return bool(case.given.get("same_start", True)) or rank == group[0]


def explain(task: str, case: Case, outcome: Outcome) -> str | None:
    """The mistake behind a case that did not come to an end."""
    if outcome.how == "parted" or outcome.how == "stuck":
        return "order-differs-by-rank"
    return None
