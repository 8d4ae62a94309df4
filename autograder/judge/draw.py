"""Inputs for learners' functions, drawn from a secret seed: `draw.integers(1, 64)` says what may come."""

from __future__ import annotations

import hashlib
import hmac
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_WIDE = 1000


@dataclass(frozen=True)
class Draw:
    """What may be drawn for one input; `words` describe it, `sample` draws."""

    words: str
    sample: Callable[[random.Random], Any]


def generator(seed: bytes, where: str) -> random.Random:
    """The generator for `where` ("2.1/formula"): the same for the same seed, unforeseeable without it."""
    return random.Random(int.from_bytes(hmac.new(seed, where.encode(), hashlib.sha256).digest()))


def integers(low: int, high: int, *, multiple_of: int = 1) -> Draw:
    """Whole numbers from low to high, both included; evenly in the logarithm when the range spans a factor of 1000."""
    first, last = -(-low // multiple_of), high // multiple_of
    if first > last:
        raise ValueError(f"draw.integers({low}, {high}): nothing to draw")

    def sample(rng: random.Random) -> int:
        if first > 0 and last >= _WIDE * first:
            drawn = round(math.exp(rng.uniform(math.log(first), math.log(last))))
            return min(last, max(first, drawn)) * multiple_of
        return rng.randint(first, last) * multiple_of

    return Draw(f"integers({low}, {high})", sample)


def floats(low: float, high: float) -> Draw:
    """Numbers between low and high; evenly in the logarithm when the range spans a factor of 1000."""
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise ValueError(f"draw.floats({low}, {high}): nothing to draw")

    def sample(rng: random.Random) -> float:
        if low > 0 and high >= _WIDE * low:
            return min(high, max(low, math.exp(rng.uniform(math.log(low), math.log(high)))))
        return rng.uniform(low, high)

    return Draw(f"floats({low}, {high})", sample)


def choice(options: Sequence[Any]) -> Draw:
    """One of the options."""
    if not options:
        raise ValueError("draw.choice: nothing to draw")
    kept = tuple(options)
    return Draw(f"choice({list(kept)!r})", lambda rng: rng.choice(kept))


def booleans() -> Draw:
    """True or False."""
    return choice([True, False])


def lists(of: Draw, *, min: int = 0, max: int = 8) -> Draw:
    """Lists of `min` to `max` values, each drawn from `of`."""
    if not 0 <= min <= max:
        raise ValueError(f"draw.lists: lengths from {min} to {max}")
    return Draw(
        f"lists({of.words}, {min}, {max})", lambda rng: [of.sample(rng) for _ in range(rng.randint(min, max))]
    )


def make(function: Callable[[random.Random], Any]) -> Draw:
    """Whatever `function` makes of a random.Random: numbers, texts, lists. As the whole of `given` it makes the
    dictionary of all inputs, for inputs that depend on each other.
    """
    return Draw("make", function)
