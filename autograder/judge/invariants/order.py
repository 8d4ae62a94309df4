"""What comes before what in a step. Calls are the switch's; matrix products and phases are the probe's, so these may
take points and give none.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograder.judge.invariants.steps import SEEN, Steps
from autograder.judge.invariants.traffic import large
from autograder.judge.lab import Finding


def overlaps_backward(
    steps: Steps, rank: int, kinds: Sequence[str], mistake: str | None = None, micro: int = 0
) -> Finding | None:
    """From the second step on, the first call of one of these kinds is issued before the last matrix product of
    backward: what is sent after it can hide behind nothing."""
    for step in range(1, steps.count):
        calls = large(steps.calls(rank, step, *kinds))
        begin, end = steps.phase(rank, step, "backward", micro)
        products = [m.order for m in steps.marks(rank, step, "matmul") if begin < m.order < end]
        if not products:
            return Finding(f"step {step} of rank {rank}: no matrix product in backward, {SEEN}")
        if not calls or calls[0].order > products[-1]:
            text = (
                f"step {step} of rank {rank}: the first {kinds[0]} is issued after the last matrix product of "
                f"backward, so nothing hides it ({SEEN})"
            )
            return Finding(text, mistake, {"step": step, "products": len(products)})
    return None


def is_issued_before_its_turn(
    steps: Steps,
    rank: int,
    step: int,
    phase: str,
    calls: Sequence[int],
    products: Sequence[int],
    mistake: str | None,
) -> Finding | None:
    """The call at order `calls[i + 1]` comes before the matrix product at order `products[i]`: unit i + 1 is on its way
    while unit i computes."""
    for unit, product in enumerate(products[:-1]):
        if unit + 1 < len(calls) and calls[unit + 1] > product:
            text = (
                f"step {step} of rank {rank}, {phase}: the gather of unit {unit + 1} is issued after unit {unit} has "
                f"begun to compute ({SEEN})"
            )
            return Finding(text, mistake, {"step": step, "unit": unit})
    return None
