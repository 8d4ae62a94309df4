"""Judge side: one process on all data is the truth; beside it what ZeRO-1 keeps: 1/N of the state, 2n·P a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import torch

from autograder.content import Case
from autograder.judge import fixtures, naming
from autograder.judge.invariants import memory as alive
from autograder.judge.invariants import steps, traffic
from autograder.judge.lab import Finding, Inputs, compare
from autograder.judge.switch import Outcome, Trace
from autograder.learner.lab import models, training

STATE = {"Adam": 2, "AdamW": 2, "SGD": 1}
"""Tensors of a parameter's size that an optimizer keeps for it."""


def given(task: str, case: Case, seed: int) -> list[Inputs]:
    """A model, data and an optimizer for every rank, see `fixtures.given`."""
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
        params = fixtures.per_step(record, "param:")
        if inputs[rank].get("sums"):
            params = {f"{name[:-2]}:sum{name[-2:]}": value.double().sum(0) for name, value in params.items()}
        expected[rank] = params | fixtures.losses(record, rank)
    wrong = compare(outputs, expected, **fixtures.closeness(inputs[0]))
    found = [_named(group, inputs, outputs, record, wrong)] if wrong else []
    if len(group) > 1 and case.backend == "switch":
        found += [finding for finding in _sharded(task, group, inputs[0], trace) if finding]
    return found


def _sharded(task: str, group: list[int], inputs: Inputs, trace: Trace) -> list[Finding | None]:
    """What the task is about beside values: state or traffic."""
    run = steps.of(trace, group, int(inputs["steps"]))
    if isinstance(run, Finding):
        return [run]
    found: list[Finding | None] = []
    for rank in group:
        if task == "state_sharded":
            found += [_deals_out_nothing(run, rank), *_keeps_its_part(run, rank, len(group), inputs)]
        if task == "traffic":
            found += [_deals_out_nothing(run, rank), *_moves_no_more(run, rank, len(group), inputs)]
    return [*found, traffic.ranks_call_alike(run, group)]


def _deals_out_nothing(run: steps.Steps, rank: int) -> Finding | None:
    calls = [call for step in range(1, run.count) for call in run.calls(rank, step)]
    why = "a part of ZeRO-1 is one N-th of all elements, gathered, not parameters handed round whole"
    return traffic.makes_no(calls, ("broadcast",), why, "whole-parameters-dealt")


def _padded(inputs: Inputs, n: int) -> int:
    """Bytes of all parameters, each padded by itself, which is the most that padding may come to."""
    sizes = fixtures.sizes(inputs)
    return (sum(sizes.values()) + n * len(sizes)) * fixtures.width(inputs)


def _keeps_its_part(run: steps.Steps, rank: int, n: int, inputs: Inputs) -> list[Finding | None]:
    kept = STATE.get(inputs["optimizer"]["name"], int(inputs["optimizer"].get("buffers", 1)))
    share = Fraction(_padded(inputs, n), n)
    scalars = 64 * len(fixtures.sizes(inputs))
    # weights, gradients, one master part and the state: whatever else is kept is a replica of something
    whole = 2 * _padded(inputs, n) + (kept + 2) * share
    asked = (
        (("optimizer",), kept * share + scalars, f"{kept} · P/N"),
        (("total",), whole, f"2P + {kept + 2} · P/N"),
    )
    return [
        alive.holds_at_most(run, rank, "update", "end", classes, most, formula, "state-not-sharded")
        for classes, most, formula in asked
    ]


def _moves_no_more(run: steps.Steps, rank: int, n: int, inputs: Inputs) -> list[Finding | None]:
    calls = [call for step in range(1, run.count) for call in run.calls(rank, step)]
    why = "each rank needs the sum of its own part alone, which is a reduce-scatter"
    named = "all-reduce-then-slice"
    padded = _padded(inputs, n)
    most = Fraction(2 * (n - 1), n) * padded
    # what a constructor does to make starts equal is free
    in_all = most * run.count + 2 * padded
    return [
        traffic.makes_no(calls, ("all_reduce", "reduce", "gather"), why, named),
        traffic.a_step_costs_at_most(run, rank, most, "2 (N−1)/N · P", named),
        traffic.in_all(run.trace, rank, in_all, "2P + steps · 2 (N−1)/N · P"),
    ]


def _named(
    group: Sequence[int],
    inputs: Sequence[Inputs],
    outputs: Sequence[Inputs],
    record: Sequence[Mapping[str, Any]],
    wrong: Finding,
) -> Finding:
    """The mistake that wrong weights show, by how far the first step has moved them."""
    n = len(group)
    start = training.weights(inputs[group[0]])
    moved = {name: record[0][f"param:{name}"] - value for name, value in start.items()}
    for rank in group:
        got = naming.tensors(outputs[rank], "param:", 0)
        if any(name not in got or got[name].shape != value.shape for name, value in start.items()):
            return wrong
        own = {name: got[name] - value for name, value in start.items()}
        by = naming.factor(own, moved)
        if n > 1 and by is not None and abs(by - n) < 1e-3:
            return Finding(f"{wrong.text}: the first step is {n} times too long", "nobody-divides-by-n")
        if n > 1 and by is not None and abs(by - 1 / n) < 1e-3:
            return Finding(f"{wrong.text}: the first step is {n} times too short", "divided-twice")
        alone = fixtures.truth(inputs, [rank])[0]
        if n > 1 and naming.same(
            own, {name: alone[f"param:{name}"] - value for name, value in start.items()}
        ):
            return Finding(
                f"{wrong.text}: rank {rank} steps with the gradient of its own data", "not-reduced"
            )
        still = sum(int((value == 0).sum()) for value in own.values())
        if n > 1 and still > sum(value.numel() for value in own.values()) / (2 * n):
            text = f"{wrong.text}: after the first step {still} weights of rank {rank} have not moved"
            return Finding(text, "nobody-told")
        if inputs[0]["optimizer"]["name"] != "SGD" and naming.same(
            own, _after_a_dummy_step(group, inputs, start)
        ):
            text = f"{wrong.text}: the first step is what the second one after a step on zeros would be"
            return Finding(text, "dummy-step")
    return wrong


def _after_a_dummy_step(
    group: Sequence[int], inputs: Sequence[Inputs], start: Mapping[str, torch.Tensor]
) -> dict[str, torch.Tensor]:
    """How far the first step moves the weights when the optimizer has stepped once on zero gradients before."""
    model = models.build(inputs[group[0]]["model"], start)
    kind, options = training.optimizer_of(inputs[group[0]])
    optimizer = kind(model.parameters(), **options)
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    optimizer.zero_grad()
    for rank in group:
        for x, target in training.batches(inputs[rank])[0]:
            (models.loss_of(model(x), target) / (len(group) * int(inputs[rank]["micro_batches"]))).backward()
    optimizer.step()
    return {name: p.detach() - start[name] for name, p in model.named_parameters()}


def explain(task: str, case: Case, outcome: Outcome) -> str | None:
    """The mistake behind a case that did not come to an end."""
    if case.memory_mib is not None and any(end.how in ("limit", "crashed") for end in outcome.ends):
        return "state-not-sharded"
    return None
