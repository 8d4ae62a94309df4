"""Meshes: data, tensor and pipeline parallelism together, and hybrid sharding.

- tensor parallelism cuts the matrices of a block into t parts (arXiv 1909.08053, section 3)
- pipeline parallelism cuts the layers into p stages; 1F1B keeps at most p micro-batches at once (arXiv 2104.04473)
- hybrid sharding: a group shards, groups are replicas of one another (arXiv 2304.11277, section 3.2.2)
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from autograder.judge.budget.activations import Recompute, Shape, kept
from autograder.judge.budget.memory import Method, Regime, State, state


@dataclass(frozen=True)
class Mesh:
    """Ranks along each dimension: `data` shard the state or copy it, `tensor` cut matrices, `pipeline` cut layers."""

    data: int = 1
    tensor: int = 1
    pipeline: int = 1

    @property
    def ranks(self) -> int:
        return self.data * self.tensor * self.pipeline


def remaining(ranks: int, *known: int) -> int:
    """The size of the last dimension of a mesh of `ranks`; 0 where the known ones do not divide it."""
    product = 1
    for size in known:
        product *= size
    return ranks // product if product and ranks % product == 0 else 0


def mesh_params(params: int, mesh: Mesh) -> Fraction:
    """Parameters that a rank works with: 1/(tp) of the model, every matrix cut and every stage equal."""
    return Fraction(params, mesh.tensor * mesh.pipeline)


def mesh_state(params: int, mesh: Mesh, regime: Regime, method: Method = Method.ZERO3) -> State:
    """Training state on a rank in bytes: its part of the model, sharded over `data` ranks as `method` does."""
    whole = state(method, params, mesh.data, regime)
    cut = mesh.tensor * mesh.pipeline
    return State(whole.params / cut, whole.grads / cut, whole.optimizer / cut)


def hybrid_state(params: int, shard: int, replicas: int, regime: Regime) -> State:
    """Training state on a rank where groups of `shard` ranks shard it: `replicas` change nothing."""
    if replicas < 1:
        raise ValueError(f"replicas is {replicas}; there is at least one")
    return state(Method.ZERO3, params, shard, regime)


def in_flight(
    stages: int, micro_batches: int, stage: int = 0, schedule: Literal["1f1b", "gpipe"] = "1f1b"
) -> int:
    """Micro-batches whose activations `stage` (from 0) holds at once at its fullest."""
    if not 0 <= stage < stages:
        raise ValueError(f"there is no stage {stage} among {stages}")
    return micro_batches if schedule == "gpipe" else min(micro_batches, stages - stage)


def pipeline_activations(
    shape: Shape,
    stages: int,
    micro_batches: int,
    stage: int = 0,
    schedule: Literal["1f1b", "gpipe"] = "1f1b",
    *,
    recompute: Recompute = "none",
    tensor: int = 1,
    sequence_parallel: bool = False,
) -> Fraction:
    """Bytes of activations kept on `stage`: its share of the layers, for every micro-batch (of `shape`) in flight."""
    one = kept(shape, recompute, tensor=tensor, sequence_parallel=sequence_parallel) / stages
    return in_flight(stages, micro_batches, stage, schedule) * one
