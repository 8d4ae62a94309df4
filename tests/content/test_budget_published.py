"""The budget model against figures that stand in papers, or that a hand can work out from them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from autograder.judge import budget
from autograder.judge.budget import FSDP2_MIXED, GPT3, MIXED, Method, activations, parallel, time, traffic

GB = 10**9
ONE = budget.Shape(sequence=2048, batch=1, hidden=12288, heads=96, layers=96)


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (activations.main_tensor(GPT3), "0.402653184 GB"),
        (activations.block(GPT3), "22.951232 GB"),
        (activations.kept(GPT3, "none"), "2203.318223 GB"),
        (activations.kept(GPT3, "scores"), "657.129996 GB"),
        (activations.kept(GPT3, "full"), "38.654706 GB"),
        (activations.peak(GPT3, "full"), "61.605938 GB"),
        (activations.peak(GPT3, "full", store_scores=False), "45.499810 GB"),
    ],
)
def test_gpt3_activations_with_eight_samples(size: Fraction | int, shown: str) -> None:
    """arXiv 2205.05198: sbh(34 + 5as/h) a block, and 2sbh where it is checkpointed."""
    assert abs(Fraction(size) / GB - Fraction(shown.split()[0])) < Fraction(1, 10**6)


def test_the_formula_of_a_block_written_out_for_gpt3() -> None:
    sbh = 2048 * 8 * 12288
    assert GPT3.sbh == sbh == 201_326_592
    assert activations.block(GPT3) == sbh * (34 + 80) and 5 * 96 * 2048 == 80 * 12288
    assert activations.block(GPT3, tensor=8) == sbh * (10 + 3 + 10)
    assert activations.block(GPT3, tensor=8, sequence_parallel=True) == sbh * Fraction(114, 8)
    assert activations.block(GPT3, store_scores=False) == sbh * 34


def test_what_checkpointing_shrinks_17_to_57_fold_and_at_its_peak_14_to_36_fold() -> None:
    full = activations.kept(GPT3, "full")
    assert [round(activations.kept(GPT3, how) / full) for how in ("scores", "none")] == [17, 57]
    assert round(activations.kept(GPT3, "none") / activations.peak(GPT3, "full")) == 36
    assert round(activations.kept(GPT3, "scores") / activations.peak(GPT3, "full", store_scores=False)) == 14


def test_thirty_gb_at_peak_take_a_batch_of_three_or_of_five_without_stored_scores() -> None:
    assert activations.largest_batch(GPT3, 30 * GB, "full") == 3
    assert activations.largest_batch(GPT3, 30 * GB, "full", store_scores=False) == 5
    assert activations.largest_batch(GPT3, 30 * GB, "none") == 0


def test_gpt3_on_1024_ranks_with_the_sources_other_terms() -> None:
    shard = budget.state(Method.ZERO3, 175 * GB, 1024, MIXED).total
    whole = budget.Budget(shard, Fraction(3, 2) * GB, 30 * GB)
    assert budget.gb(whole.total) == "34.234375 GB"
    assert whole.dominant == "activations" and whole.fits(80 * GB) and not whole.fits(34 * GB)


def test_a_buffer_of_1_5_gb_against_real_units() -> None:
    buffer = Fraction(3, 2) * GB
    assert budget.gb(2 * budget.gpt_block(12288)) == "3.6238787 GB" and 2 * budget.gpt_block(12288) > buffer
    assert round(100 * buffer / (7 * GB * FSDP2_MIXED.compute), 1) == Fraction("10.7")
    seven, eight = budget.LLAMA_7B, budget.LLAMA3_8B
    shares = [
        Fraction(seven.block, seven.params),
        Fraction(eight.embedding, eight.params),
        Fraction(eight.root, eight.params),
    ]
    assert [f"{float(100 * share):.1f}" for share in shares] == ["3.0", "6.5", "13.1"]


def test_seven_hundred_mb_over_10_gbit() -> None:
    """Eight ranks, 200 ms of forward: 490 ms a collective, ratio 2.45, plain data parallelism 1.63."""
    size, link = 700 * 10**6, budget.link_bytes(10)
    assert link == 1_250_000_000
    once = budget.seconds(budget.all_gather(size, 8), link)
    compute = Fraction(1, 5) + time.backward_time(Fraction(1, 5))
    assert once == Fraction("0.49") == budget.ring_time(size, 8, link)
    assert time.ratio(3 * once, compute) == Fraction("2.45")
    assert round(time.ratio(2 * once, compute), 2) == Fraction("1.63")
    naive = budget.seconds(size, link)
    assert naive == Fraction("0.56") and time.ratio(3 * naive, compute) == Fraction("2.8")
    assert round(time.ratio(2 * naive, compute), 2) == Fraction("1.87")


def test_exposure_starts_where_the_hidden_share_ends() -> None:
    assert budget.exposed(60, 100, Fraction(7, 10)) == 0 == budget.exposed(70, 100, Fraction(7, 10))
    assert budget.exposed(80, 100, Fraction(7, 10)) == 10 and budget.exposed(30, 100) == 0
    assert budget.step_time(245, 100) == 245 and budget.step_time(245, 100, 0) == 345


def test_checkpointing_adds_one_forward() -> None:
    assert time.backward_time(200) == 400 and time.backward_time(200, recompute=True) == 600
    assert 200 + time.backward_time(200, recompute=True) == 800


def test_bf16_gathers_with_fp32_reduction_cost_what_fp32_data_parallelism_does() -> None:
    """8P bytes each, times (N-1)/N: "1.5 times the traffic" counts elements."""
    params, ranks = 10**9, 8
    sharded = budget.step_bytes(Method.ZERO3, params, ranks, 2, 4)
    plain = budget.step_bytes(Method.DP, params, ranks, 4, 4)
    assert sharded.total == plain.total == budget.all_gather(8 * params, ranks)
    assert (sharded.gathered, sharded.scattered) == (plain.total / 2, plain.total / 2)
    assert budget.step_bytes(Method.ZERO3, params, ranks, 2, 2).total * 2 == 3 * budget.all_reduce(
        2 * params, ranks
    )


def test_what_waiting_saves_and_costs() -> None:
    params, ranks, m = 10**9, 4, 6
    once = budget.all_gather(2 * params, ranks)

    def sent(**options: bool) -> tuple[Fraction, Fraction]:
        found = budget.step_bytes(Method.ZERO3, params, ranks, 2, 2, m, **options)
        return found.gathered / once, found.scattered / once

    assert sent() == (12, 6)
    assert sent(reduce_last=True) == (12, 1)
    assert sent(reshard=False) == (6, 6)
    assert sent(reshard=False, reduce_last=True, keep_params=True) == (1, 1)
    assert budget.unsharded_gradients(params, ranks, 4) == 3 * GB


def test_hybrid_sharding_sends_little_between_nodes() -> None:
    inside, across = budget.hybrid_bytes(8 * GB, 8, 4, 2, 2)
    assert inside.total == 3 * 14 * GB  # 7/8 of 16 GB, three times
    assert across.total == 2 * Fraction(3, 4) * 2 * GB  # 3/4 of a 2 GB shard, twice
    assert budget.hybrid_state(8 * GB, 8, 4, MIXED).total == 16 * GB


def test_megatrons_table_of_the_distributed_optimizer() -> None:
    """Bytes a parameter with d ranks: 4 + 16/d for fp16 gradients, 6 + 12/d for fp32 ones, 8 + 8/d in fp32."""
    for regime, whole, shared in (
        (budget.MIXED_BOTH_GRADS, 4, 16),
        (budget.MIXED_FP32_GRADS, 6, 12),
        (budget.FP32, 8, 8),
    ):
        for d in (1, 2, 64):
            assert budget.state(Method.ZERO1, 1, d, regime).total == whole + Fraction(shared, d)


def test_tensor_and_pipeline_parallelism() -> None:
    mesh = budget.Mesh(data=8, tensor=8, pipeline=8)
    assert mesh.ranks == 512 and budget.remaining(512, 8, 8) == 8 and budget.remaining(500, 8, 8) == 0
    assert parallel.mesh_params(175 * GB, mesh) == Fraction(175 * GB, 64)
    stage = budget.Mesh(data=4, pipeline=4)
    assert budget.mesh_state(10 * GB, stage, budget.FP32).total == 10 * GB  # 40 GB a stage, on 4 ranks
    assert traffic.tensor_parallel_bytes(ONE.tokens, ONE.hidden, 2, 8) == 7 * activations.main_tensor(ONE)
    assert traffic.pipeline_bytes(ONE.tokens, ONE.hidden, 2, 5) == 5 * activations.main_tensor(ONE)


def test_pipeline_bubbles_of_both_kinds_and_what_is_in_flight() -> None:
    assert time.bubble_of_step(4, 8) == Fraction(3, 11) and time.bubble_of_ideal(4, 8) == Fraction(3, 8)
    assert [budget.in_flight(4, 8, stage) for stage in range(4)] == [4, 3, 2, 1]
    assert budget.in_flight(4, 2) == 2 and budget.in_flight(4, 8, schedule="gpipe") == 8
    first = parallel.pipeline_activations(ONE, 4, 8)
    assert first == activations.kept(ONE)  # a quarter of the layers, four micro-batches
    assert parallel.pipeline_activations(ONE, 4, 8, 3) == first / 4


def test_resharding_and_casts_at_the_fullest_moment() -> None:
    assert budget.transient([10, 10, 10], 2, reshard=False).total == (30 + 10) * 2
    assert budget.transient([10, 10, 10], 2, reduce_width=4).gradient == 10 * 2 + 10 * 4
    assert budget.transient([10, 10, 10], 4, reduce_width=4).gradient == 10 * 4
