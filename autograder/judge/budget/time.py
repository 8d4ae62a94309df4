"""Time of a step: links, overlap, recomputation, pipelines. Seconds in, seconds out, or any one unit throughout.

- a ring of N ranks takes N - 1 rounds, each of latency plus 1/N of the array over the bandwidth (Patarasuk and Yuan,
  2009)
- backward is two matmuls for each of forward's; full recomputation adds one forward (arXiv 2205.05198, section 5)
- pipeline bubbles: arXiv 2104.04473, section 2.2.1
- overlap and prefetching of units: arXiv 2304.11277, section 3.3
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from autograder.judge.budget.exact import Exact
from autograder.learner.overlap import Duration, Span, timeline

__all__ = [
    "Span",
    "backward_time",
    "bubble_of_ideal",
    "bubble_of_step",
    "exposed",
    "link_bytes",
    "ratio",
    "ring_time",
    "seconds",
    "step_time",
    "timeline",
    "units_time",
]


def link_bytes(gigabits: Exact) -> Fraction:
    """Bytes a second of a link of `gigabits` Gbit/s: 8 bits a byte, 10^9 a giga."""
    return Fraction(gigabits) * 10**9 / 8


def seconds(size: Exact, bandwidth: Exact) -> Fraction:
    """Time for `size` bytes at `bandwidth` bytes a second."""
    return Fraction(size) / Fraction(bandwidth)


def ring_time(size: Exact, ranks: int, bandwidth: Exact, latency: Exact = 0) -> Fraction:
    """Time of a ring all-gather or reduce-scatter of an array of `size` bytes; an all-reduce takes two of them."""
    rounds = ranks - 1
    return rounds * (latency + seconds(Fraction(size) / ranks, bandwidth))


def exposed(communication: Exact, compute: Exact, share: Exact = 1) -> Exact:
    """Communication that shows: what is longer than the `share` of compute that can hide it."""
    return max(0, communication - share * compute)


def step_time(communication: Exact, compute: Exact, share: Exact = 1) -> Exact:
    """Compute, and the communication that it does not hide."""
    return compute + exposed(communication, compute, share)


def ratio(communication: Exact, compute: Exact) -> Fraction:
    """Communication over compute."""
    return Fraction(communication) / Fraction(compute)


def backward_time(forward: Exact, *, recompute: bool = False) -> Exact:
    """Backward of a layer: two matmuls for each of forward's, and forward once more where it is checkpointed."""
    return (3 if recompute else 2) * forward


def bubble_of_step(stages: int, micro_batches: int) -> Fraction:
    """Idle share of a pipeline's whole step: (p-1)/(m+p-1)."""
    return Fraction(stages - 1, micro_batches + stages - 1)


def bubble_of_ideal(stages: int, micro_batches: int) -> Fraction:
    """Idle time over the time of the work itself: (p-1)/m."""
    return Fraction(stages - 1, micro_batches)


def units_time(
    computes: Sequence[Exact], gathers: Sequence[Exact], scatters: Sequence[Exact], *, prefetch: bool = True
) -> Duration:
    """Time of forward and backward over units: the end of the last span of their `timeline`."""
    return max((span.end for span in timeline(computes, gathers, scatters, prefetch=prefetch)), default=0)
