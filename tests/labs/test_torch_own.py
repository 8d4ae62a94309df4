"""torch's own wrappers train through the switch as one process would, and every call of theirs is recorded."""

from __future__ import annotations

from collections import Counter

import pytest
import scenarios
import torch
from lab_ranks import Run, outputs

PARAMETERS = 4 * (12 * 12 + 12)
STEPS = 3


def one_process(world: int) -> dict[str, torch.Tensor]:
    """The same steps in one process: the loss is the mean over the ranks' batches, all of one size."""
    net = scenarios.model()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for step in range(STEPS):
        optimizer.zero_grad()
        net(torch.cat([scenarios.batch(rank, step) for rank in range(world)])).pow(2).mean().backward()
        optimizer.step()
    return {name: p.detach() for name, p in net.named_parameters()}


def assert_trained(ran_outputs: list[dict[str, torch.Tensor]], world: int) -> None:
    right = one_process(world)
    before = scenarios.model().state_dict()
    for got in ran_outputs:
        assert got.keys() == right.keys()
        for name, value in right.items():
            torch.testing.assert_close(got[name], value, rtol=1e-10, atol=1e-12)
            assert not torch.allclose(got[name], before[name], rtol=1e-4)


@pytest.mark.parametrize("world", [3, 4])
def test_ddp(run: Run, world: int) -> None:
    ran = run("ddp", world)
    assert_trained(outputs(ran), world)
    for rank in range(world):
        reduced = ran.outcome.trace.of(rank, "all_reduce")
        # one bucket in the first step; then DDP rebuilds them, and at 0.001 MB every layer is one
        assert [call.bytes for call in reduced] == [PARAMETERS * 8] + [PARAMETERS * 2] * 4 * (STEPS - 1)
        assert {call.red for call in reduced} == {"SUM"}
    kinds = Counter(call.kind for call in ran.outcome.trace.of(0))
    # before the first step DDP compares shapes (all_gather) and sends rank 0's weights (broadcast)
    assert kinds == {
        "all_gather": kinds["all_gather"],
        "broadcast": kinds["broadcast"],
        "all_reduce": 1 + 4 * (STEPS - 1),
    }


@pytest.mark.parametrize("world", [3, 4])
def test_fully_shard(run: Run, world: int) -> None:
    ran = run("fsdp", world)
    assert_trained(outputs(ran), world)
    for rank in range(world):
        calls = ran.outcome.trace.of(rank)
        scattered = [c for c in calls if c.kind == "reduce_scatter"]
        assert len(scattered) == 4 * STEPS
        assert {c.red for c in scattered} <= {"AVG", "SUM", "PREMUL_SUM"}
        # dimension 0 of 12 divides by 3 and 4: no padding
        assert sum(c.bytes for c in scattered) == STEPS * PARAMETERS * 8
        gathered = [c for c in calls if c.kind == "all_gather"]
        training = [c for c in gathered if c.order < scattered[-1].order]
        # forward gathers each unit, backward each again but the last, which is still whole
        assert len(training) in (STEPS * 7, STEPS * 8)
        assert len(gathered) - len(training) == 8  # full_tensor() of 4 weights and 4 biases
        assert not [c for c in calls if c.kind == "all_reduce"]
    assert ran.outcome.trace.digest() == run("fsdp", world).outcome.trace.digest()
