"""Memory of the training state, and what stands beside it for a moment.

- bytes a parameter and the ZeRO stages: ZeRO (arXiv 1910.02054), section 3 and figure 1
- 18 and 20 bytes: Megatron Core's table of its distributed optimizer (6 + 12/d and 4 + 16/d on d ranks)
- what is alive at the same time: the layout of torch's `fully_shard` with prefetching (arXiv 2304.11277, section 4)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from autograder.judge.budget.exact import Exact, ceil


@dataclass(frozen=True)
class Regime:
    """Bytes a parameter, by what they are for.

    `param`, `grad`, `optimizer` are kept between steps (the fp32 master of mixed precision counts with the
    optimizer, as in ZeRO's K = 12). `compute` is the width that a matmul reads and that a gather moves.
    """

    name: str
    param: int
    grad: int
    optimizer: int
    compute: int

    @property
    def total(self) -> int:
        """Bytes a parameter of the whole training state."""
        return self.param + self.grad + self.optimizer


FP32 = Regime("fp32 Adam", param=4, grad=4, optimizer=8, compute=4)
MIXED = Regime("mixed precision, ZeRO layout", param=2, grad=2, optimizer=12, compute=2)
FSDP2_MIXED = Regime("mixed precision, FSDP2 policy", param=4, grad=4, optimizer=8, compute=2)
MIXED_FP32_GRADS = Regime("mixed precision, gradients in fp32 only", param=2, grad=4, optimizer=12, compute=2)
MIXED_BOTH_GRADS = Regime(
    "mixed precision, 16-bit and fp32 gradients", param=2, grad=2, optimizer=16, compute=2
)
"""The fp32 gradient is made of the 16-bit one for the update, so it counts with the optimizer."""
REGIMES = (FP32, MIXED, FSDP2_MIXED, MIXED_FP32_GRADS, MIXED_BOTH_GRADS)


class Method(StrEnum):
    """How data-parallel ranks split the training state."""

    DP = "dp"  # nothing is sharded
    ZERO1 = "zero-1"  # optimizer state
    ZERO2 = "zero-2"  # and gradients
    ZERO3 = "zero-3"  # and parameters: FSDP's full sharding


def stage(number: int) -> Method:
    """The method of ZeRO stage 0 (plain data parallelism), 1, 2 or 3."""
    return (Method.DP, Method.ZERO1, Method.ZERO2, Method.ZERO3)[number]


@dataclass(frozen=True)
class State:
    """Bytes of the training state on one rank, between steps."""

    params: Fraction
    grads: Fraction
    optimizer: Fraction

    @property
    def total(self) -> Fraction:
        return self.params + self.grads + self.optimizer


def kept(method: Method, ranks: int) -> tuple[Fraction, Fraction, Fraction]:
    """The fraction of parameters, gradients and optimizer state that one of `ranks` keeps (ZeRO, figure 1).

    Raises ValueError for less than one rank.
    """
    _at_least_one(ranks=ranks)
    whole, shard = Fraction(1), Fraction(1, ranks)
    level = list(Method).index(method)
    return (
        shard if level >= 3 else whole,
        shard if level >= 2 else whole,
        shard if level >= 1 else whole,
    )


def state(method: Method, params: int, ranks: int, regime: Regime) -> State:
    """Training state on one rank in bytes, equal shards assumed (padding aside: see `flat_shard`, `chunk_rows`)."""
    p, g, o = kept(method, ranks)
    return State(p * regime.param * params, g * regime.grad * params, o * regime.optimizer * params)


@dataclass(frozen=True)
class Transient:
    """Bytes alive on one rank beyond its shard at the fullest moment of the backward pass."""

    params: int  # the unit at work, gathered
    gradient: int  # its gradient, whole until it is reduce-scattered
    prefetched: int  # the parameters of the unit that comes next
    root: int = 0  # the root unit's own parameters, which stay gathered from forward to backward
    kept: int = 0  # parameters of other units that were not resharded after forward

    @property
    def total(self) -> int:
        return self.params + self.gradient + self.prefetched + self.root + self.kept


def transient(
    units: Sequence[int],
    width: int,
    *,
    prefetch: bool = True,
    root: int = 0,
    reshard: bool = True,
    reduce_width: int | None = None,
) -> Transient:
    """The fullest moment of backward for `units` (parameters of each, in forward order) at `width` bytes a number.

    Backward walks from the last unit to the first: while unit l computes it holds its parameters and its gradient,
    and, prefetching, the parameters of unit l-1. With equal units that is three of them, the figure PyTorch's own
    memory test allows above the shard, besides the root's own parameters. Without `reshard` (FSDP2's
    `reshard_after_forward=False`) all units before l still stand as forward left them, and nothing is fetched.
    With a `reduce_width` other than `width` the gradient is also cast, and both copies stand until the reduction.
    """
    both = width + (reduce_width if reduce_width not in (None, width) else 0)
    moments = []
    before = 0
    for i, unit in enumerate(units):
        fetched = units[i - 1] if prefetch and reshard and i else 0
        kept = 0 if reshard else before
        moments.append(Transient(unit * width, unit * both, fetched * width, root * width, kept * width))
        before += unit
    return max(moments, key=lambda moment: moment.total)


def unsharded_gradients(params: int, ranks: int, width: int) -> Fraction:
    """Extra bytes a rank holds between micro-batches where only the last one is reduced: whole gradients in place of
    their shards (`no_sync`, `set_requires_gradient_sync(False)`), at `width` bytes each.
    """
    _at_least_one(ranks=ranks)
    return Fraction(ranks - 1, ranks) * params * width


def smallest_world(total: int, extra: Exact, memory: Exact) -> int:
    """The least N with total/N + extra <= memory, all in bytes; 0 where no N can do it."""
    room = memory - extra
    return 0 if room <= 0 else max(1, ceil(Fraction(total) / Fraction(room)))


@dataclass(frozen=True)
class Budget:
    """All that one rank holds at its fullest, in bytes: state, gathered units and their gradients, activations."""

    state: Exact
    transient: Exact
    activations: Exact

    @property
    def parts(self) -> dict[str, Exact]:
        """The three parts by name."""
        return {"state": self.state, "transient": self.transient, "activations": self.activations}

    @property
    def total(self) -> Exact:
        return self.state + self.transient + self.activations

    @property
    def dominant(self) -> str:
        """The name of the largest part; of two equal ones the first."""
        return max(self.parts, key=lambda name: self.parts[name])

    def fits(self, memory: Exact) -> bool:
        """Whether a card of `memory` bytes holds it; exactly full counts as fitting."""
        return self.total <= memory


def _at_least_one(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"{name} is {count}; there is at least one")
