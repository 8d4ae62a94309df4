"""Traffic of a rank: bytes received, which in a ring are the bytes sent.

- ring collectives: (N-1)/N of the array a rank and direction; an all-reduce is a reduce-scatter and an all-gather
  (arXiv 2304.11277, section 2; bandwidth-optimal rings after Patarasuk and Yuan, 2009)
- which collectives a step needs: ZeRO (arXiv 1910.02054, section 7), FSDP (arXiv 2304.11277, sections 3 and 5)
- hybrid sharding: arXiv 2304.11277, section 3.2.2
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from autograder.judge.budget.exact import Exact
from autograder.judge.budget.memory import Method


def all_gather(size: Exact, ranks: int) -> Fraction:
    """Bytes a rank receives (and sends) in a ring all-gather that builds an array of `size` bytes."""
    return Fraction(ranks - 1, ranks) * size


def reduce_scatter(size: Exact, ranks: int) -> Fraction:
    """Bytes a rank receives (and sends) in a ring reduce-scatter of an array of `size` bytes: partial sums."""
    return Fraction(ranks - 1, ranks) * size


def all_reduce(size: Exact, ranks: int) -> Fraction:
    """Bytes a rank receives (and sends) in a ring all-reduce: a reduce-scatter, then an all-gather."""
    return reduce_scatter(size, ranks) + all_gather(size, ranks)


def step_traffic(method: Method, params: int, ranks: int, micro_batches: int = 1) -> Fraction:
    """Elements a rank receives in one optimizer step (not bytes: the two directions may differ in dtype).

    Plain data parallelism and ZeRO-1 wait with the reduction until the last micro-batch; ZeRO-2 reduces every
    micro-batch and gathers the updated parameters once; ZeRO-3 gathers twice and reduces once a micro-batch.
    """
    m = micro_batches
    times = {Method.DP: 2, Method.ZERO1: 2, Method.ZERO2: m + 1, Method.ZERO3: 3 * m}[method]
    return times * all_gather(params, ranks)


@dataclass(frozen=True)
class Traffic:
    """Bytes a rank receives in one optimizer step, by collective."""

    gathered: Fraction = Fraction(0)  # all-gathers of parameters
    scattered: Fraction = Fraction(0)  # reduce-scatters of gradients
    reduced: Fraction = Fraction(0)  # all-reduces of gradients, or of shards of them

    @property
    def total(self) -> Fraction:
        return self.gathered + self.scattered + self.reduced


def step_bytes(
    method: Method,
    params: int,
    ranks: int,
    gather_width: int,
    reduce_width: int,
    micro_batches: int = 1,
    *,
    reshard: bool = True,
    reduce_last: bool = False,
    keep_params: bool = False,
) -> Traffic:
    """Bytes a rank receives in one optimizer step with parameters of `gather_width` and gradients of `reduce_width`
    bytes each.

    Plain data parallelism all-reduces once; ZeRO-1 reduce-scatters once and gathers the updated parameters; ZeRO-2
    reduce-scatters every micro-batch; ZeRO-3 gathers for forward and for backward and reduce-scatters every
    micro-batch. For ZeRO-3 alone: without `reshard` the gather for forward serves backward too; `keep_params` keeps
    it for all micro-batches. With `reduce_last` (ZeRO-2 and -3) only the last micro-batch is reduced.
    """
    m = micro_batches
    once_gathered = all_gather(params * gather_width, ranks)
    once_scattered = reduce_scatter(params * reduce_width, ranks)
    if method is Method.DP:
        return Traffic(reduced=2 * once_scattered)
    if method is Method.ZERO1:
        return Traffic(once_gathered, once_scattered)
    reductions = 1 if reduce_last else m
    if method is Method.ZERO2:
        return Traffic(once_gathered, reductions * once_scattered)
    gathers = 1 if keep_params else m * (2 if reshard else 1)
    return Traffic(gathers * once_gathered, reductions * once_scattered)


def hybrid_bytes(
    params: int, shard: int, replicas: int, gather_width: int, reduce_width: int, micro_batches: int = 1
) -> tuple[Traffic, Traffic]:
    """(inside, across): bytes a rank receives a step in a group of `shard` ranks that shard, and across `replicas`
    such groups. Each group works as ZeRO-3; the shard of the gradient is all-reduced with its `replicas` - 1 twins.
    """
    inside = step_bytes(Method.ZERO3, params, shard, gather_width, reduce_width, micro_batches)
    each = all_reduce(Fraction(params * reduce_width, shard), replicas)
    return inside, Traffic(reduced=micro_batches * each)


def tensor_parallel_bytes(tokens: int, hidden: int, width: int, ranks: int, layers: int = 1) -> Fraction:
    """Bytes a rank receives a step to run `layers` transformer blocks tensor-parallel on `ranks` ranks.

    Two all-reduces of the block's output, tokens x hidden, in forward and two in backward (arXiv 1909.08053,
    section 3). Sequence parallelism cuts each into a reduce-scatter and an all-gather of the same bytes.
    """
    return 4 * layers * all_reduce(tokens * hidden * width, ranks)


def pipeline_bytes(tokens: int, hidden: int, width: int, micro_batches: int = 1) -> int:
    """Bytes that cross one boundary between pipeline stages in each direction a step: activations forward, their
    gradients backward, for micro-batches of `tokens` tokens (arXiv 2104.04473, section 2.2).
    """
    return tokens * hidden * width * micro_batches
