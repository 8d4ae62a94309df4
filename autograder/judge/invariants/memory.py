"""What is alive in memory, by phase. It is what the probe beside learner code saw, so it may take points and gives
none; a case under the kernel's own limit stands beside it.
"""

from __future__ import annotations

from fractions import Fraction

from autograder.judge.invariants.steps import SEEN, Steps
from autograder.judge.lab import Finding

SLACK = 4096
"""Bytes of scalars, indices and the like that no formula counts."""


def holds_at_most(
    steps: Steps,
    rank: int,
    phase: str,
    at: str,
    classes: tuple[str, ...],
    most: Fraction | int,
    formula: str,
    mistake: str | None = None,
) -> Finding | None:
    """From the second step on, what is alive of these classes (see `learner.lab.probe`; "total": everything) at the
    `peak` or the `end` of a phase is at most `most` bytes."""
    for step in range(1, steps.count):
        found = [
            mark.values
            for mark in steps.marks(rank, step, "memory")
            if mark.values.get("phase") == phase and mark.values.get("at") == at
        ]
        if not found:
            return Finding(
                f"step {step} of rank {rank}: no memory was seen in {phase}; leave the probe alone"
            )
        measured = max(sum(_number(values.get(name)) for name in classes) for values in found)
        if measured > most + SLACK:
            where = f"at the {at} of {phase}"
            what = "all live memory" if classes == ("total",) else f"live bytes of {' and '.join(classes)}"
            text = (
                f"step {step} of rank {rank}: {what} {where} comes to {measured:,.0f} bytes; at most {formula} = "
                f"{float(most):,.0f} are needed ({SEEN})"
            )
            figure = {"what": f"{' and '.join(classes)} {where}", "ideal": float(most), "measured": measured}
            return Finding(text, mistake, {"figure": {**figure, "unit": "B"}})
    return None


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
