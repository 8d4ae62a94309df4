"""The budget model: what sharded training holds and sends, and how long it takes, by formula.

P = parameters, N = ranks, S = bytes of a full array. Numbers are exact: `int` or `Fraction`, never rounded before
they are shown. GB = 10^9 bytes, GiB = 2^30 bytes. One module a matter, each with the sources of its formulas:

- memory: bytes a parameter, ZeRO stages, what stands gathered for a moment, the whole budget
- activations: of a transformer block, with and without recomputation, tensor and sequence parallelism
- traffic: of collectives, and of a step by method
- time: links, overlap, recomputation, pipeline bubbles
- parallel: meshes of data, tensor and pipeline parallelism, hybrid sharding
- shards: sizes where N does not divide; models: published parameter counts; exact: numbers as text

Keys of exercises are computed from here, so that no figure of the course is typed twice.
"""

from __future__ import annotations

from fractions import Fraction

from autograder.judge.budget import activations, parallel, time, traffic
from autograder.judge.budget.activations import GPT3, Shape
from autograder.judge.budget.exact import Exact, gb, mb, mistaken_gib, number, text
from autograder.judge.budget.memory import (
    FP32,
    FSDP2_MIXED,
    MIXED,
    MIXED_BOTH_GRADS,
    MIXED_FP32_GRADS,
    REGIMES,
    Budget,
    Method,
    Regime,
    State,
    Transient,
    kept,
    smallest_world,
    stage,
    state,
    transient,
    unsharded_gradients,
)
from autograder.judge.budget.models import LLAMA3_8B, LLAMA_7B, Llama, gpt_block
from autograder.judge.budget.parallel import Mesh, hybrid_state, in_flight, mesh_state, remaining
from autograder.judge.budget.shards import chunk_rows, flat_shard
from autograder.judge.budget.time import exposed, link_bytes, ring_time, seconds, step_time
from autograder.judge.budget.traffic import (
    Traffic,
    all_gather,
    all_reduce,
    hybrid_bytes,
    reduce_scatter,
    step_bytes,
    step_traffic,
)

__all__ = [
    "FP32",
    "FSDP2_MIXED",
    "GPT3",
    "LLAMA3_8B",
    "LLAMA_7B",
    "MIXED",
    "MIXED_BOTH_GRADS",
    "MIXED_FP32_GRADS",
    "REGIMES",
    "Budget",
    "Exact",
    "Fraction",
    "Llama",
    "Mesh",
    "Method",
    "Regime",
    "Shape",
    "State",
    "Traffic",
    "Transient",
    "activations",
    "all_gather",
    "all_reduce",
    "chunk_rows",
    "exposed",
    "flat_shard",
    "gb",
    "gpt_block",
    "hybrid_bytes",
    "hybrid_state",
    "in_flight",
    "kept",
    "link_bytes",
    "mb",
    "mesh_state",
    "mistaken_gib",
    "number",
    "parallel",
    "reduce_scatter",
    "remaining",
    "ring_time",
    "seconds",
    "smallest_world",
    "stage",
    "state",
    "step_bytes",
    "step_time",
    "step_traffic",
    "text",
    "time",
    "traffic",
    "transient",
    "unsharded_gradients",
]
