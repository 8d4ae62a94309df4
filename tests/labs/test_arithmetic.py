"""The switch's arithmetic against torch's, and laws that hold for every input."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.judge.switch.arithmetic import reduce
from autograder.judge.switch.dtypes import dump, load
from autograder.judge.switch.fault import Fault

sizes = st.integers(0, 40)
worlds = st.integers(1, 6)
seeds = st.integers(0, 2**32 - 1)
DTYPES = ["float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8"]


def random_rows(seed: int, world: int, size: int, dtype: str) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    if "float" in dtype:
        return [
            (torch.randn(size, generator=generator) * 100).to(getattr(torch, dtype)) for _ in range(world)
        ]
    return [
        torch.randint(0, 127, (size,), generator=generator).to(getattr(torch, dtype)) for _ in range(world)
    ]


def raw(x: torch.Tensor) -> np.ndarray:  # type: ignore[type-arg]
    return x.view(-1).view(torch.uint8).numpy()


def tensor(data: np.ndarray, dtype: str) -> torch.Tensor:  # type: ignore[type-arg]
    return (
        torch.frombuffer(bytearray(data.tobytes()), dtype=getattr(torch, dtype))
        if data.size
        else torch.empty(0, dtype=getattr(torch, dtype))
    )


@settings(max_examples=60, deadline=None)
@given(seeds, worlds, sizes, st.sampled_from(DTYPES))
def test_sum_in_rank_order_is_torchs(seed: int, world: int, size: int, dtype: str) -> None:
    rows = random_rows(seed, world, size, dtype)
    wide = torch.float32 if dtype in ("float16", "bfloat16") else getattr(torch, dtype)
    total = rows[0].to(wide)
    for row in rows[1:]:
        total = total + row.to(wide)
    assert torch.equal(
        tensor(reduce([raw(r) for r in rows], dtype, "SUM"), dtype), total.to(getattr(torch, dtype))
    )


@settings(max_examples=60, deadline=None)
@given(seeds, worlds, sizes, st.sampled_from(DTYPES), st.sampled_from(["MIN", "MAX"]), st.randoms())
def test_min_and_max_do_not_care_for_order(seed, world, size, dtype, red, shuffler) -> None:  # type: ignore[no-untyped-def]
    rows = [raw(r) for r in random_rows(seed, world, size, dtype)]
    first = reduce(rows, dtype, red)
    shuffled = list(rows)
    shuffler.shuffle(shuffled)
    assert np.array_equal(first, reduce(shuffled, dtype, red))


@settings(max_examples=60, deadline=None)
@given(seeds, worlds, sizes, st.sampled_from(["float64", "float32"]))
def test_avg_is_sum_over_n_and_premul_scales_first(seed: int, world: int, size: int, dtype: str) -> None:
    rows = [raw(r) for r in random_rows(seed, world, size, dtype)]
    total = tensor(reduce(rows, dtype, "SUM"), dtype)
    assert torch.equal(tensor(reduce(rows, dtype, "AVG"), dtype), total / world)
    halved = tensor(reduce(rows, dtype, "PREMUL_SUM", 0.5), dtype)
    assert torch.equal(halved, total * 0.5)  # a power of two: exact in any order


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(width=32, allow_nan=True, allow_infinity=True), min_size=1, max_size=50))
def test_bfloat16_rounds_as_torch_does(values: list[float]) -> None:
    x = torch.tensor(values, dtype=torch.float32)
    ours = tensor(dump(x.numpy(), "bfloat16"), "bfloat16")
    right = x.to(torch.bfloat16)
    assert torch.equal(ours.isnan(), right.isnan())
    assert torch.equal(ours[~right.isnan()], right[~right.isnan()])
    assert torch.equal(
        torch.from_numpy(load(raw(right), "bfloat16").copy()).nan_to_num(), right.float().nan_to_num()
    )


def test_every_bfloat16_survives_the_way_there_and_back() -> None:
    every = np.arange(1 << 16, dtype=np.uint16)
    finite = every[~np.isnan(load(every.view(np.uint8), "bfloat16"))]
    assert np.array_equal(dump(load(finite.view(np.uint8), "bfloat16"), "bfloat16").view(np.uint16), finite)


def test_avg_of_integers_goes_toward_zero() -> None:
    rows = [
        np.array([7, -7, 1, -1], np.int32).view(np.uint8),
        np.array([0, 0, 0, 0], np.int32).view(np.uint8),
    ]
    assert reduce(rows, "int32", "AVG").view(np.int32).tolist() == [3, -3, 0, 0]


def test_inputs_are_not_changed() -> None:
    rows = [raw(r) for r in random_rows(1, 3, 10, "float32")]
    before = [row.copy() for row in rows]
    for red in ("SUM", "AVG", "PRODUCT", "PREMUL_SUM"):
        reduce(rows, "float32", red, 3.0)
    assert all(np.array_equal(a, b) for a, b in zip(rows, before, strict=True))


@pytest.mark.parametrize(
    ("dtype", "red"),
    [
        ("float32", "BAND"),
        ("bool", "AVG"),
        ("complex64", "MAX"),
        ("float8_e4m3fn", "SUM"),
        ("int32", "PREMUL_SUM"),
    ],
)
def test_reductions_that_mean_nothing(dtype: str, red: str) -> None:
    with pytest.raises(Fault):
        reduce([np.zeros(16, np.uint8)] * 2, dtype, red)
