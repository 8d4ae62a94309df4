"""What must hold in the budget model for any numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.judge import budget
from autograder.judge.budget import Method, activations, parallel, time

params = st.integers(1, 10**12)
ranks = st.integers(1, 2000)
few = st.integers(1, 16)
widths = st.sampled_from([2, 4])
sizes = st.integers(1, 10**12)
shapes = st.builds(
    budget.Shape,
    sequence=st.integers(1, 8192),
    batch=st.integers(1, 64),
    hidden=st.integers(1, 16384),
    heads=st.integers(1, 128),
    layers=st.integers(1, 120),
)
times = st.integers(0, 1000)
units = st.lists(st.tuples(times, times, times), min_size=1, max_size=8)


@given(st.sampled_from(list(Method)), params, ranks, widths, widths, few)
def test_bytes_of_a_step_are_its_elements_where_all_are_equally_wide(
    method: Method, params: int, ranks: int, width: int, other: int, m: int
) -> None:
    sent = budget.step_bytes(method, params, ranks, width, width, m)
    assert sent.gathered + sent.scattered + sent.reduced == sent.total
    assert sent.total == width * budget.step_traffic(method, params, ranks, m)
    assert (sent.total == 0) == (ranks == 1)
    assert budget.step_bytes(method, params, ranks, width, other, m).total <= 2 * sent.total


@given(params, ranks, widths, few)
def test_one_group_of_all_ranks_is_full_sharding_and_groups_of_one_are_plain(
    params: int, ranks: int, width: int, m: int
) -> None:
    inside, across = budget.hybrid_bytes(params, ranks, 1, width, width, m)
    assert inside == budget.step_bytes(Method.ZERO3, params, ranks, width, width, m) and across.total == 0
    inside, across = budget.hybrid_bytes(params, 1, ranks, width, width)
    assert (
        inside.total == 0 and across.total == budget.step_bytes(Method.DP, params, ranks, width, width).total
    )


@given(params, few, few, few, st.sampled_from(budget.REGIMES), st.sampled_from(list(Method)))
def test_the_ranks_of_a_mesh_hold_the_model_together(
    params: int, data: int, tensor: int, pipeline: int, regime: budget.Regime, method: Method
) -> None:
    mesh = budget.Mesh(data, tensor, pipeline)
    each = budget.mesh_state(params, mesh, regime, method)
    assert (
        each.total * tensor * pipeline
        == each.params * tensor * pipeline + (each.grads + each.optimizer) * tensor * pipeline
        == budget.state(method, params, data, regime).total
    )
    assert parallel.mesh_params(params, mesh) * tensor * pipeline == params
    if method is Method.ZERO3:
        assert each.total * mesh.ranks == regime.total * params
    assert budget.remaining(mesh.ranks, data, tensor) == pipeline


@given(shapes, few)
def test_activations_of_a_block(shape: budget.Shape, tensor: int) -> None:
    whole = activations.block(shape)
    cut = activations.block(shape, tensor=tensor)
    both = activations.block(shape, tensor=tensor, sequence_parallel=True)
    assert both == whole / tensor <= cut <= whole
    assert activations.block(shape, store_scores=False) + activations.scores(shape) == whole
    assert activations.main_tensor(shape) < activations.block(shape, store_scores=False)


@given(shapes)
def test_recomputing_more_keeps_less_and_the_peak_is_above_what_is_kept(shape: budget.Shape) -> None:
    none, scores, full = (activations.kept(shape, how) for how in ("none", "scores", "full"))
    assert full < scores < none
    for how, held in (("none", none), ("scores", scores)):
        assert activations.peak(shape, how) == held  # type: ignore[arg-type]
    peak = activations.peak(shape, "full")
    assert full < activations.peak(shape, "full", store_scores=False) < peak
    assert peak - full == activations.block(shape)


@given(shapes, st.integers(1, 10**12))
def test_the_largest_batch_fits_and_one_more_does_not(shape: budget.Shape, memory: int) -> None:
    batch = activations.largest_batch(shape, memory, "full")

    def need(samples: int) -> Fraction:
        one = budget.Shape(shape.sequence, samples, shape.hidden, shape.heads, shape.layers)
        return activations.peak(one, "full")

    assert need(batch + 1) > memory and (batch == 0 or need(batch) <= memory)


@given(shapes, st.integers(1, 16), st.integers(1, 64))
def test_a_pipeline_of_one_stage_holds_one_micro_batch_and_earlier_stages_hold_more(
    shape: budget.Shape, stages: int, m: int
) -> None:
    assert parallel.pipeline_activations(shape, 1, m) == activations.kept(shape)
    held = [parallel.pipeline_activations(shape, stages, m, stage) for stage in range(stages)]
    assert held == sorted(held, reverse=True) and held[0] <= activations.kept(shape)
    assert parallel.pipeline_activations(shape, stages, m, 0, "gpipe") >= held[0]
    assert time.bubble_of_step(stages, m) == time.bubble_of_ideal(stages, m) / (
        1 + time.bubble_of_ideal(stages, m)
    )


@given(sizes, ranks, st.integers(1, 10**12), st.integers(0, 1000))
def test_the_time_of_a_ring_is_latency_and_bytes(size: int, ranks: int, bandwidth: int, latency: int) -> None:
    took = budget.ring_time(size, ranks, bandwidth, latency)
    assert took == (ranks - 1) * latency + budget.seconds(budget.all_gather(size, ranks), bandwidth)
    assert budget.ring_time(size, ranks + 1, bandwidth, latency) > took


@given(times, times, st.fractions(0, 1))
def test_a_step_is_between_its_longer_part_and_the_sum(
    communication: int, compute: int, share: Fraction
) -> None:
    whole = budget.step_time(communication, compute, share)
    assert max(communication, compute) <= whole <= communication + compute
    assert budget.step_time(communication, compute) == max(communication, compute)


@given(units)
def test_a_timeline_keeps_its_order_and_one_thing_at_a_time(units: list[tuple[int, int, int]]) -> None:
    computes, gathers, scatters = (list(column) for column in zip(*units, strict=True))
    for prefetch in (True, False):
        spans = time.timeline(computes, gathers, scatters, prefetch=prefetch)
        lanes: tuple[list[Any], list[Any]] = (
            [span for span in spans if span.kind == "compute"],
            [span for span in spans if span.kind != "compute"],
        )
        for lane in lanes:
            for before, after in pairwise(lane):
                assert before.end <= after.start
        assert len(lanes[0]) == 2 * len(units) and len(lanes[1]) == 3 * len(units)
        done = {(s.phase, s.unit): s for s in lanes[0]}
        for span in lanes[1]:
            at_work = done[span.phase, span.unit]
            assert span.start >= at_work.end if span.kind == "scatter" else span.end <= at_work.start
    fast, slow = (
        time.units_time(computes, gathers, scatters, prefetch=prefetch) for prefetch in (True, False)
    )
    link = 2 * sum(gathers) + sum(scatters)
    assert max(3 * sum(computes), link) <= fast <= slow <= 3 * sum(computes) + link


def test_a_timeline_wants_lists_of_one_length() -> None:
    with pytest.raises(ValueError, match="of one length"):
        time.timeline([1, 2], [1], [1, 2])


@pytest.mark.parametrize("ranks", [0, -1])
def test_no_world_is_empty(ranks: int) -> None:
    with pytest.raises(ValueError, match="at least one"):
        budget.state(Method.ZERO3, 10, ranks, budget.FP32)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=10), widths)
def test_not_resharding_never_needs_less(units: list[int], width: int) -> None:
    kept = budget.transient(units, width, reshard=False).total
    assert kept >= budget.transient(units, width, prefetch=False).total
    assert kept >= sum(units) * width
