"""Judge side: one process on all data is the truth; beside it what full sharding keeps, moves and counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

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
    last = len(record) - 1
    params = {n: v for n, v in fixtures.per_step(record, "param:").items() if n.endswith(f":{last}")}
    if inputs[0].get("sums"):
        params = {f"{n.rpartition(':')[0]}:sum:{last}": v.double().sum(0) for n, v in params.items()}
    expected: list[dict[str, Any]] = [{} for _ in range(case.world)]
    for rank in group:
        expected[rank] = params | fixtures.losses(record, rank)
    wrong = compare(outputs, expected, **fixtures.closeness(inputs[0]))
    found = [_named(group, inputs, outputs, record, wrong)] if wrong else []
    if len(group) > 1 and case.backend == "switch":
        found += [finding for finding in _sharded(task, group, inputs[0], trace) if finding]
    return found


class _Sizes:
    """What the formulas speak of, in bytes; each parameter is counted as if it were padded by itself."""

    def __init__(self, inputs: Inputs, n: int) -> None:
        item = fixtures.width(inputs)
        units: dict[str, int] = {}
        tied = bool(inputs["model"].get("tied"))
        for name, elements in fixtures.sizes(inputs).items():
            layer = name.rsplit(".", 1)[0]
            unit = "root" if tied and layer == "layers.0" else layer
            units[unit] = units.get(unit, 0) + (elements + n) * item
        self.n, self.units, self.largest, self.all = n, len(units), max(units.values()), sum(units.values())
        batch = inputs["x:0:0"].shape[0]
        widths = inputs["model"]["widths"]
        # what autograd keeps of a sample, and its gradients: a few rows as wide as the layers
        self.activations = 8 * batch * (sum(widths) + widths[0]) * max(item, 8)
        self.state = STATE.get(inputs["optimizer"]["name"], int(inputs["optimizer"].get("buffers", 1)))
        self.micros = int(inputs["micro_batches"])


def _sharded(task: str, group: list[int], inputs: Inputs, trace: Trace) -> list[Finding | None]:
    run = steps.of(trace, group, int(inputs["steps"]))
    if isinstance(run, Finding):
        return [run]
    sizes = _Sizes(inputs, len(group))
    found: list[Finding | None] = []
    for rank in group:
        found.append(_reduces_whole_gradients_nowhere(trace, rank))
        if task == "traffic":
            found += _moves(run, rank, sizes, bool(inputs.get("reshard", True)))
        if task == "memory":
            found += _keeps(run, rank, sizes)
    return [*found, traffic.ranks_call_alike(run, group)]


def _reduces_whole_gradients_nowhere(trace: Trace, rank: int) -> Finding | None:
    calls = trace.of(rank)
    if not trace.of(rank, "all_gather") and traffic.large(trace.of(rank, "all_reduce")):
        text = f"rank {rank} gathers no parameter and all-reduces gradients: this is data parallelism"
        return Finding(text, "nothing-sharded")
    why = "a rank needs the mean of its own shard alone, which is a reduce-scatter"
    return traffic.makes_no(calls, ("all_reduce", "reduce", "gather"), why, "all-reduce-then-slice")


def _moves(run: steps.Steps, rank: int, sizes: _Sizes, reshard: bool) -> list[Finding | None]:
    """Gathers between 2L−2 and 2L, since root and last unit may keep theirs, or L; reduce-scatters L; 3n·P, or 2n·P."""
    units, m = sizes.units, sizes.micros
    n = Fraction(sizes.n - 1, sizes.n)
    fewest, most = (max(units, 2 * units - 2), 2 * units) if reshard else (units, units)
    formula = "2L − 2 to 2L a micro-batch" if reshard else "L a micro-batch, kept until backward"
    times = 3 if reshard else 2
    cost = times * n * sizes.all * m
    # one gather of everything for what is handed in, and one for what a constructor may do
    in_all = run.count * cost + 2 * n * sizes.all
    return [
        traffic.makes_between(run, rank, "all_gather", m * fewest, m * most, formula, "gathers-miscounted"),
        traffic.makes_between(
            run, rank, "reduce_scatter", m * units, m * units, "L a micro-batch", "gathers-miscounted"
        ),
        traffic.a_step_costs_at_most(run, rank, cost, f"{times} (N−1)/N · P", "gathers-miscounted"),
        traffic.in_all(run.trace, rank, in_all, f"(steps · {times} + 2) (N−1)/N · P"),
    ]


def _keeps(run: steps.Steps, rank: int, sizes: _Sizes) -> list[Finding | None]:
    share = Fraction(sizes.all, sizes.n)
    kept = (2 + sizes.state) * share
    formula = f"{2 + sizes.state} · P/N"
    u = sizes.largest
    loose = sizes.activations
    holds = alive.holds_at_most
    return [
        holds(run, rank, "update", "end", ("total",), kept + loose, formula, "not-freed"),
        holds(
            run,
            rank,
            "forward",
            "end",
            ("total",),
            kept + 2 * u + loose,
            f"{formula} + 2U",
            "kept-after-forward",
        ),
        holds(
            run, rank, "backward", "peak", ("total",), kept + 5 * u + loose, f"{formula} + 5U", "not-freed"
        ),
    ]


def _named(
    group: Sequence[int],
    inputs: Sequence[Inputs],
    outputs: Sequence[Inputs],
    record: Sequence[Mapping[str, Any]],
    wrong: Finding,
) -> Finding:
    """The mistake that wrong values show: by the losses of the second step, and by how far weights have moved."""
    n, steps_made = len(group), int(inputs[group[0]]["steps"])
    for rank in group:
        right = fixtures.losses(record, rank)
        mine = {
            name: float(v) for name, v in outputs[rank].items() if name.startswith("loss:") and v.numel() == 1
        }
        if steps_made > 1 and "loss:1:0" in mine:
            stale = _loss_of_start(inputs, rank, 1)
            if abs(mine["loss:1:0"] - stale) <= 1e-9 + 1e-6 * abs(stale):
                text = f"{wrong.text}: the second step’s loss is that of the weights before the first update"
                return Finding(text, "stale-weights")
        if "loss:0:0" in mine and abs(mine["loss:0:0"] - float(right["loss:0:0"])) > 1e-6:
            return Finding(f"{wrong.text}: already the first loss is wrong, so forward ran on other weights")
    if "loss:1:0" in fixtures.losses(record, group[0]):
        for by, mistake in ((n, "nobody-divides-by-n"), (Fraction(1, n), "divided-twice")):
            other = fixtures.truth(_scaled(inputs, float(by)), group)
            losses = fixtures.losses(other, group[0])
            got = naming.tensors(outputs[group[0]], "loss:1:")
            if n > 1 and naming.same(
                got, {name[7:]: v for name, v in losses.items() if name.startswith("loss:1:")}
            ):
                return Finding(
                    f"{wrong.text}: the first step is that of {by} times the mean gradient", mistake
                )
    return wrong


def _loss_of_start(inputs: Sequence[Inputs], rank: int, step: int) -> float:
    """The loss of a rank's first micro-batch of a step, on the weights training began with."""
    model = models.build(inputs[rank]["model"], training.weights(inputs[rank]))
    x, target = training.batches(inputs[rank])[step][0]
    return float(models.loss_of(model(x), target).detach())


def _scaled(inputs: Sequence[Inputs], by: float) -> list[Inputs]:
    """The same with another learning rate: what a constant factor on every gradient does to plain descent."""
    return [one | {"optimizer": one["optimizer"] | {"lr": one["optimizer"]["lr"] * by}} for one in inputs]


def explain(task: str, case: Case, outcome: Outcome) -> str | None:
    """The mistake behind a case that did not come to an end."""
    if case.memory_mib is not None and any(end.how in ("limit", "crashed") for end in outcome.ends):
        return "nothing-sharded"
    return None
