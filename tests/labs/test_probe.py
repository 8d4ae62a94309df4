"""What the probe sees of torch's own wrappers, and that its marks stand in the order of the calls."""

from __future__ import annotations

import pytest
from lab_ranks import Run, outputs

from autograder.judge.invariants import memory, order, steps, traffic
from autograder.judge.lab import Finding
from autograder.judge.switch import Trace

WIDTH, LAYERS, STEPS = 64, 6, 3
LAYER = (WIDTH * WIDTH + WIDTH) * 8
"""Bytes of one layer in float64, weight and bias."""


def _steps(trace: Trace, world: int) -> steps.Steps:
    found = steps.of(trace, list(range(world)), STEPS)
    assert isinstance(found, steps.Steps)
    return found


def _memory(found: steps.Steps, rank: int, phase: str, at: str) -> dict[str, float]:
    (mark,) = [
        m.values
        for m in found.marks(rank, 1, "memory")
        if m.values["phase"] == phase and m.values["at"] == at
    ]
    return {name: float(value) for name, value in mark.items() if isinstance(value, int | float)}


@pytest.mark.parametrize("world", [3, 4])
def test_a_replica_and_its_shards_are_told_apart(run: Run, world: int) -> None:
    whole, shards = (
        _steps(outputs_of(run, name, world), world) for name in ("probed_replica", "probed_shards")
    )
    kept = {name: _memory(found, 0, "update", "end") for name, found in (("dp", whole), ("fsdp", shards))}
    assert kept["dp"]["parameters"] == LAYERS * LAYER
    assert kept["dp"]["gradients"] == LAYERS * LAYER
    assert kept["dp"]["optimizer"] == pytest.approx(2 * LAYERS * LAYER, rel=0.01)
    # torch pads each parameter's rows, 64 over 3 ranks to 66, and the biases too
    share = -(-WIDTH // world) / WIDTH
    for name in ("parameters", "gradients"):
        assert kept["fsdp"][name] == pytest.approx(share * LAYERS * LAYER, rel=0.02), name
    assert kept["fsdp"]["optimizer"] == pytest.approx(2 * share * LAYERS * LAYER, rel=0.02)
    # in forward a replica holds all layers whole, and a sharded model one or two at a time
    after, peak = (_memory(shards, 0, "forward", at) for at in ("end", "peak"))
    assert peak["total"] - after["total"] < 4 * LAYER
    assert (
        _memory(whole, 0, "backward", "peak")["total"] > 2 * _memory(shards, 0, "backward", "peak")["total"]
    )


def test_marks_and_calls_stand_in_the_order_of_the_program(run: Run) -> None:
    found = _steps(outputs_of(run, "probed_shards", 4), 4)
    begin, end = found.phase(0, 1, "forward")
    gathers = [call.order for call in found.calls(0, 1, "all_gather") if begin < call.order < end]
    products = [m.order for m in found.marks(0, 1, "matmul") if begin < m.order < end]
    assert len(products) == LAYERS and len(gathers) == LAYERS
    assert all(gather < product for gather, product in zip(gathers, products, strict=True))


def test_torchs_own_wrappers_keep_what_the_labs_ask(run: Run) -> None:
    whole, shards = (_steps(outputs_of(run, name, 4), 4) for name in ("probed_replica", "probed_shards"))
    all_bytes = LAYERS * LAYER
    assert order.overlaps_backward(whole, 0, ["all_reduce"]) is None
    assert traffic.a_step_costs_at_most(whole, 0, all_bytes * 3 // 2, "2 (N−1)/N · P") is None
    assert traffic.makes_between(shards, 0, "reduce_scatter", LAYERS, LAYERS, "L") is None
    assert traffic.makes_between(shards, 0, "all_gather", 2 * LAYERS - 2, 2 * LAYERS, "2L − 2 to 2L") is None
    assert traffic.ranks_call_alike(shards, [0, 1, 2, 3]) is None
    assert traffic.makes_no(shards.trace.of(0), ["all_reduce"], "gradients are reduce-scattered") is None
    held = memory.holds_at_most(
        shards, 0, "update", "peak", ("parameters", "gradients", "optimizer"), all_bytes, "4 · P/N"
    )
    assert held is None


def test_each_sentence_breaks_where_it_should(run: Run) -> None:
    whole, late = (_steps(outputs_of(run, name, 4), 4) for name in ("probed_replica", "probed_late"))
    found = [
        order.overlaps_backward(late, 0, ["all_reduce"], "late"),
        traffic.a_step_costs_at_most(whole, 0, LAYER, "one layer", "much"),
        traffic.in_all(whole.trace, 0, LAYER, "one layer", "much"),
        traffic.makes_no(whole.calls(0, 1), ["all_reduce"], "it is to be reduce-scattered", "whole"),
        traffic.makes_between(whole, 0, "all_gather", 1, 2, "L", "none"),
        traffic.at_least_in_all(whole.trace, 0, ["all_gather"], 10**6, "P", "none"),
        memory.holds_at_most(whole, 0, "update", "end", ("optimizer",), LAYER, "2P/N", "replica"),
    ]
    texts = [finding.text for finding in found if finding is not None]
    assert len(texts) == len(found), texts
    assert "after the last matrix product of backward" in texts[0] and "probe" in texts[0]
    assert "at most one layer = 33,280 bytes are needed" in texts[1]
    assert "calls all_reduce" in texts[3] and "makes 0 all_gather calls" in texts[4]


def test_marks_of_a_learners_own_are_not_steps(run: Run) -> None:
    ran = run("forges_marks", 2)
    outputs(ran)
    found = steps.of(ran.outcome.trace, [0, 1], STEPS)
    assert isinstance(found, Finding) and "did not run steps 0 to 2" in found.text
    # the switch's own count stands, whatever was marked
    assert traffic.in_all(ran.outcome.trace, 0, 1000, "nothing") is not None
    assert ran.outcome.trace.digest() == run("forges_nothing", 2).outcome.trace.digest()


@pytest.mark.parametrize("scenario", ["too_many_marks", "marks_of_no_numbers", "a_mark_of_many_values"])
def test_marks_cannot_fill_the_judge(run: Run, scenario: str) -> None:
    ran = run(scenario, 2)
    assert ran.outcome.ends[0].how == "fault", ran.outcome.ends[0]
    assert max(len(ran.outcome.trace.marked(rank)) for rank in (0, 1)) <= 20_000


def outputs_of(run: Run, scenario: str, world: int) -> Trace:
    ran = run(scenario, world)
    outputs(ran)
    return ran.outcome.trace
