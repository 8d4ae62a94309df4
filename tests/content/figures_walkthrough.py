"""Where the figures of the walkthrough come from: see prose.py."""

from __future__ import annotations

from fractions import Fraction

from stated import Stated

from autograder.judge import budget
from autograder.judge.budget import FP32, FSDP2_MIXED, MIXED

SOURCES: dict[str, Fraction | int | Stated] = {
    "1 %": Stated("the tolerance, rel=0.01 of expect.quantity"),
    "1.5 GB": Stated("how to write an answer"),
    "80 GB": Stated("the card"),
    "2 byte": MIXED.param,
    "4 byte": FP32.param,
    "16 byte": FP32.total,
    "1-2 %": Stated("the rule of thumb that is refuted here"),
}

PHRASES: list[tuple[str, bool]] = [
    (
        "off by a factor of four, or of eight",
        (FP32.total // FP32.param, MIXED.total // MIXED.param) == (4, 8),
    ),
    ("mixed precision five: 2, 2, 4, 4, 4", (MIXED.param, MIXED.grad, MIXED.optimizer) == (2, 2, 4 + 4 + 4)),
    ("2 bytes each in bf16, 4 in fp32", (FSDP2_MIXED.compute, FP32.compute) == (2, 4)),
    ("For equal units that makes three", budget.transient([1] * 5, 1).total == 3),
    ("some 50 to 100 equal layers", (100 / 50, 100 / 100) == (2, 1)),
]
