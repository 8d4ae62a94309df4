"""The budget model against published figures, against torch, and against what must hold for any numbers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.judge import budget
from autograder.judge.budget import FP32, FSDP2_MIXED, MIXED, Method

ZERO_PAPER = (7_500_000_000, 64)  # arXiv 1910.02054, figure 1

params = st.integers(1, 10**12)
ranks = st.integers(1, 2000)
regimes = st.sampled_from(budget.REGIMES)
methods = st.sampled_from(list(Method))


@pytest.mark.parametrize(
    ("method", "mixed", "fp32"),
    [
        (Method.DP, "120 GB", "120 GB"),
        (Method.ZERO1, "31.40625 GB", "60.9375 GB"),
        (Method.ZERO2, "16.640625 GB", "31.40625 GB"),
        (Method.ZERO3, "1.875 GB", "1.875 GB"),
    ],
)
def test_the_zero_papers_example_in_both_regimes(method: Method, mixed: str, fp32: str) -> None:
    assert budget.gb(budget.state(method, *ZERO_PAPER, MIXED).total) == mixed
    assert budget.gb(budget.state(method, *ZERO_PAPER, FP32).total) == fp32
    assert budget.gb(budget.state(method, *ZERO_PAPER, FSDP2_MIXED).total) == fp32


@pytest.mark.parametrize(
    ("method", "params", "ranks", "expected"),
    [
        (Method.DP, 7 * 10**9, 8, "112 GB"),
        (Method.ZERO3, 7 * 10**9, 8, "14 GB"),
        (Method.ZERO3, 175 * 10**9, 64, "43.75 GB"),
        (Method.ZERO3, 175 * 10**9, 1024, "2.734375 GB"),
        (Method.DP, 1_300_000_000, 1, "20.8 GB"),
    ],
)
def test_training_state_of_known_models(method: Method, params: int, ranks: int, expected: str) -> None:
    assert budget.gb(budget.state(method, params, ranks, FP32).total) == expected


def test_the_regimes_come_to_16_18_and_20_bytes_and_split_them_as_stated() -> None:
    assert [regime.total for regime in budget.REGIMES] == [16, 16, 16, 18, 20]
    assert Fraction(FP32.optimizer, FP32.total) == Fraction(1, 2)
    assert Fraction(MIXED.optimizer, MIXED.total) == Fraction(3, 4)
    assert (FSDP2_MIXED.compute, FP32.compute) == (2, 4)


@given(methods, params, ranks, regimes)
def test_state_parts_add_up_and_lie_between_a_shard_and_a_replica(
    method: Method, params: int, ranks: int, regime: budget.Regime
) -> None:
    state = budget.state(method, params, ranks, regime)
    assert state.params + state.grads + state.optimizer == state.total
    replica = budget.state(Method.DP, params, ranks, regime).total
    assert replica == regime.total * params
    assert Fraction(replica, ranks) <= state.total <= replica


@given(methods, params, ranks, regimes)
def test_more_ranks_never_need_more_state(
    method: Method, params: int, ranks: int, regime: budget.Regime
) -> None:
    fewer, more = (budget.state(method, params, n, regime).total for n in (ranks, ranks + 1))
    assert more < fewer if method is not Method.DP else more == fewer


@given(params, ranks, regimes)
def test_each_stage_shards_more(params: int, ranks: int, regime: budget.Regime) -> None:
    totals = [budget.state(budget.stage(number), params, ranks, regime).total for number in range(4)]
    assert totals == sorted(totals, reverse=True)
    assert len(set(totals)) == (1 if ranks == 1 else 4)


@given(methods, params, regimes)
def test_one_rank_is_plain_data_parallelism(method: Method, params: int, regime: budget.Regime) -> None:
    assert budget.state(method, params, 1, regime) == budget.state(Method.DP, params, 1, regime)
    assert budget.step_traffic(method, params, 1, 3) == 0


def test_cluster_totals_fall_n_fold_to_one_copy() -> None:
    params, ranks = 10**9, 8
    assert ranks * budget.state(Method.DP, params, ranks, FP32).total == 16 * params * ranks
    assert ranks * budget.state(Method.ZERO3, params, ranks, FP32).total == 16 * params


def test_three_blocks_for_equal_units_and_the_roots_own_on_top() -> None:
    moment = budget.transient([10, 10, 10], 2, root=7)
    assert (moment.params, moment.gradient, moment.prefetched, moment.root) == (20, 20, 20, 14)
    assert moment.total == 74
    assert budget.transient([10, 10], 2, prefetch=False).total == 40


def test_transient_of_unequal_units() -> None:
    assert budget.transient([5], 4).total == 40  # parameters and gradient, nothing left to fetch
    assert budget.transient([9, 1], 1).total == 18  # at unit 0, not at unit 1 with 9 fetched: 11
    assert budget.transient([9, 8], 1).total == 25  # at the smaller unit, with the larger one fetched


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=12), st.sampled_from([2, 4]))
def test_transient_is_between_two_and_three_of_the_largest_unit(units: list[int], width: int) -> None:
    total = budget.transient(units, width).total
    assert 2 * max(units) * width <= total <= 3 * max(units) * width


@given(st.integers(1, 10**13), st.integers(0, 10**11), st.integers(1, 2 * 10**11))
def test_the_smallest_world_fits_and_one_less_does_not(total: int, extra: int, memory: int) -> None:
    least = budget.smallest_world(total, extra, memory)
    if memory <= extra:
        assert least == 0
        return
    assert least >= 1
    assert Fraction(total, least) + extra <= memory
    assert least == 1 or Fraction(total, least - 1) + extra > memory


def test_traffic_of_the_collectives() -> None:
    assert budget.mb(budget.all_gather(700 * 10**6, 8)) == "612.5 MB"
    assert budget.all_reduce(800, 8) == 1400 == budget.reduce_scatter(800, 8) + budget.all_gather(800, 8)
    assert budget.all_gather(800, 1) == 0


@given(st.integers(1, 10**12), ranks)
def test_traffic_grows_with_ranks_towards_the_array(size: int, ranks: int) -> None:
    received = budget.all_gather(size, ranks)
    assert received < budget.all_gather(size, ranks + 1) < size
    assert received == size - Fraction(size, ranks) == budget.reduce_scatter(size, ranks)


@pytest.mark.parametrize("micro_batches", [1, 2, 5])
def test_traffic_of_a_step_in_elements(micro_batches: int) -> None:
    times = {
        method: budget.step_traffic(method, 400, 4, micro_batches) / budget.all_gather(400, 4)
        for method in Method
    }
    assert times == {
        Method.DP: 2,
        Method.ZERO1: 2,
        Method.ZERO2: micro_batches + 1,
        Method.ZERO3: 3 * micro_batches,
    }


def test_rows_are_cut_as_torch_cuts_them() -> None:
    torch = pytest.importorskip("torch")
    assert budget.chunk_rows(5, 4) == [2, 2, 1, 0]
    assert budget.chunk_rows(3, 8) == [1, 1, 1, 0, 0, 0, 0, 0]
    for rows in range(1, 20):
        for world in range(1, 12):
            chunks = [len(chunk) for chunk in torch.chunk(torch.arange(rows), world)]
            assert budget.chunk_rows(rows, world) == chunks + [0] * (world - len(chunks))


@given(st.integers(1, 10**9), st.integers(1, 300))
def test_shards_hold_every_element_once(numel: int, ranks: int) -> None:
    each, padding = budget.flat_shard(numel, ranks)
    assert each * ranks == numel + padding and 0 <= padding < ranks
    assert sum(budget.chunk_rows(numel, ranks)) == numel


def test_parameter_counts_of_published_models() -> None:
    assert budget.LLAMA_7B.params == 6_738_415_616
    assert budget.LLAMA3_8B.params == 8_030_261_248
    assert budget.gb(2 * budget.gpt_block(12288)) == "3.6238787 GB"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (7, "7"),
        (Fraction(1, 8), "0.125"),
        (Fraction(10, 3), "3.3333333"),
        (Fraction(1, 3000), "0.00033333333"),
        (Fraction(-3, 2), "-1.5"),
        (1200, "1200"),
        (Fraction(999_999_999, 10**9), "1"),
        (123_456_789_012, "123456790000"),
    ],
)
def test_numbers_as_text(value: Fraction | int, shown: str) -> None:
    assert budget.number(value) == shown


@given(st.fractions(min_value=-(10**15), max_value=10**15))
def test_a_text_is_the_number_to_eight_digits(value: Fraction) -> None:
    assert abs(Fraction(budget.number(value)) - value) <= abs(value) / 10**7


def test_units_are_never_mixed() -> None:
    assert budget.text(2**30, "GiB") == "1 GiB"
    assert budget.text(2**30) == "1.0737418 GB"
    assert budget.mistaken_gib(112 * 10**9) == "104.30813 GB"
