"""Every call through the switch against plain maths, on real ranks."""

from __future__ import annotations

import math

import pytest
import torch
from lab_ranks import Run, equal, outputs

from autograder.judge.switch import Rules

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)
FLOATS = (torch.float64, torch.float32, torch.float16, torch.bfloat16)


def values(dtype: torch.dtype, rank: int) -> torch.Tensor:
    """Small whole numbers, different on each rank; every sum and product of 4 of them fits every dtype."""
    x = (torch.arange(6) + 2 * rank) % 3 + (0 if dtype is torch.bool else 1)
    return (x % 2).to(dtype) if dtype is torch.bool else x.to(dtype)


ALL = [(dtype, world) for dtype in (*INTEGERS, *FLOATS, torch.bool) for world in (3, 4)]


@pytest.mark.parametrize(("dtype", "world"), [*ALL, (torch.float32, 1), (torch.bool, 1)], ids=str)
def test_every_collective(run: Run, dtype: torch.dtype, world: int) -> None:
    xs = [values(dtype, rank) for rank in range(world)]
    reductions = ["SUM", "PRODUCT", "MIN", "MAX"]
    if dtype.is_floating_point:
        reductions.append("AVG")
    else:
        reductions += ["BAND", "BOR", "BXOR"]
    got = outputs(run("every_collective", world, [{"x": x, "reductions": reductions} for x in xs]))
    wide = torch.stack([x.to(torch.float64) for x in xs])
    total = wide.sum(0).clamp(max=1).to(dtype) if dtype is torch.bool else wide.sum(0).to(dtype)
    bits = torch.stack([x.to(torch.int64) for x in xs])
    right = {
        "SUM": total,
        "PRODUCT": wide.prod(0).to(dtype),
        "MIN": wide.amin(0).to(dtype),
        "MAX": wide.amax(0).to(dtype),
        "AVG": wide.mean(0).to(dtype),
        "BAND": _fold(bits, torch.bitwise_and).to(dtype),
        "BOR": _fold(bits, torch.bitwise_or).to(dtype),
        "BXOR": _fold(bits, torch.bitwise_xor).to(dtype),
    }
    for rank, out in enumerate(got):
        for name in reductions:
            if name == "AVG":  # a third is not exact: one rounding, as from float64, or from float32
                torch.testing.assert_close(out["all_reduce AVG"], right["AVG"])
            else:
                assert equal(out[f"all_reduce {name}"], right[name]), (rank, name)
        assert equal(out["broadcast"], xs[-1])
        if rank == 1 % world:
            assert equal(out["reduce"], total)
        assert equal(out["all_gather"], torch.stack(xs))
        assert equal(out["all_gather_single"], torch.cat(xs))
        assert equal(out["reduce_scatter"], total)
        assert equal(out["reduce_scatter_single"], total)
        if rank == 0:
            assert equal(out["gather"], torch.stack(xs))
        assert equal(out["scatter"], xs[-1])
        assert equal(out["all_to_all_single"], torch.cat([xs[r][:1].repeat(r + 1) for r in range(world)]))
        assert equal(out["all_to_all"], torch.stack(xs))
        assert equal(out["transposed"], torch.stack([xs[0], xs[0]]))


def _fold(rows: torch.Tensor, op: object) -> torch.Tensor:
    total = rows[0]
    for row in rows[1:]:
        total = op(total, row)  # type: ignore[operator]
    return total


def test_coalesced_calls(run: Run) -> None:
    n = 3
    ran = run("coalesced", n)
    base = torch.arange(4.0)
    total = base * n + 3
    one = torch.cat([base + r for r in range(n)])
    two = torch.cat([base[:2] + r for r in range(n)])
    for rank, out in enumerate(outputs(ran)):
        assert equal(out["a"], total) and equal(out["b"], 2 * total)
        assert equal(out["one"], one) and equal(out["two"], two)
        assert equal(out["three"], one.view(n, 4)[rank] * n) and equal(out["four"], two.view(n, 2)[rank] * n)
    # each coalesced pair went as one call
    assert [c.kind for c in ran.outcome.trace.of(0)] == ["all_reduce", "all_gather", "reduce_scatter"]
    assert [c.sizes for c in ran.outcome.trace.of(0)] == [(16, 16), (16, 8), (48, 24)]


def test_functional_collectives(run: Run) -> None:
    base = torch.arange(4.0)
    for rank, out in enumerate(outputs(run("functional", 3))):
        assert equal(out["total"], base * 3 + 3)
        assert equal(out["whole"], torch.cat([base, base + 1, base + 2]))
        assert equal(out["part"], base + rank)


@pytest.mark.parametrize("hold", [False, True])
def test_asynchronous_calls(run: Run, hold: bool) -> None:
    n = 4
    for rank, out in enumerate(outputs(run("asynchronous", n, rules=Rules(hold=hold)))):
        sums = [float(sum(range(n)) + n * k) for k in range(5)]
        assert out["xs"].tolist() == [[s] * 3 for s in sums]
        assert out["done"] is True
        assert out["value"].tolist() == [sums[0]] * 3
        assert out["ring"].tolist() == [sums[0]] * 3, rank


def test_messages_with_tags_and_from_anybody(run: Run) -> None:
    root = outputs(run("messages", 4))[0]
    assert root["sources"] == [1, 2, 3]
    assert root["from"].tolist() == [[1.0] * 2, [2.0] * 2, [3.0] * 2]
    assert root["tags"].tolist() == [7.0, 8.0]


def test_subgroups_whose_ranks_are_not_the_first(run: Run) -> None:
    ran = run("subgroups", 5, groups={"group": [1, 3, 4]})
    got = outputs(ran)
    assert [out.keys() for out in got] == [
        set(),
        {"sum", "from", "place", "odd"},
        set(),
        {"sum", "from", "place", "odd"},
        {"sum", "from", "place"},
    ]
    for place, rank in enumerate((1, 3, 4)):
        assert got[rank]["sum"].tolist() == [8.0]
        assert got[rank]["from"].tolist() == [4.0]
        assert got[rank]["place"] == place
    assert got[1]["odd"].tolist() == got[3]["odd"].tolist() == [3.0]
    assert {call.group for call in ran.outcome.trace} == {(1, 3, 4), (1, 3)}
    assert {call.root for call in ran.outcome.trace if call.kind == "broadcast"} == {4}


def test_a_device_mesh(run: Run) -> None:
    got = outputs(run("mesh", 6))
    assert [out["replicate"].item() for out in got] == [3, 5, 7, 3, 5, 7]
    assert [out["shard"].item() for out in got] == [3, 3, 3, 12, 12, 12]


def test_objects(run: Run) -> None:
    for out in outputs(run("objects", 3)):
        assert out["got"] == [{"rank": r, "text": "x" * r} for r in range(3)]
        assert out["box"] == {"from": 1}


def test_a_call_from_a_thread_without_dispatch_modes_is_recorded(run: Run) -> None:
    ran = run("from_a_thread", 3)
    assert all(out["x"].tolist() == [3.0, 3.0] for out in outputs(ran))
    assert [len(ran.outcome.trace.of(rank, "all_reduce")) for rank in range(3)] == [1, 1, 1]


def test_held_back_completions_show_a_read_before_the_wait(run: Run) -> None:
    held = outputs(run("reads_too_early", 3, [{"patience": 0.3}] * 3, rules=Rules(hold=True)))
    assert all(out["early"].tolist() == [1.0] * 4 and out["late"].tolist() == [3.0] * 4 for out in held)
    free = outputs(run("reads_too_early", 3, [{"patience": 20.0}] * 3))
    assert all(out["early"].tolist() == [3.0] * 4 for out in free)


def test_scrambled_messages_arrive_changed_and_finite(run: Run) -> None:
    plain = outputs(run("asynchronous", 4))[0]["ring"]
    changed = outputs(run("asynchronous", 4, rules=Rules(scramble=True)))[0]["ring"]
    assert not (plain == changed).any() and torch.isfinite(changed).all()


def test_a_big_all_reduce_is_not_slow(run: Run) -> None:
    got = outputs(run("speed", 4))
    assert got[0]["x"].tolist() == [6.0, 6.0]
    assert math.isfinite(got[0]["seconds"]) and got[0]["seconds"] < 5.0  # 0.1 s on two idle cores


def test_the_same_run_gives_the_same_bits_and_digest(run: Run) -> None:
    first, second = run("ddp", 3), run("ddp", 3)
    assert first.outcome.trace.digest() == second.outcome.trace.digest()
    for a, b in zip(outputs(first), outputs(second), strict=True):
        assert all(torch.equal(a[name], b[name]) for name in a)
