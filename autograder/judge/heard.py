"""What a talk with a kernel brought: plain data, already checked and capped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from autograder.learner.values import Value

Ended = Literal["done", "silent", "stopped", "late", "closed", "garbled", "broken"]


@dataclass(frozen=True)
class Result:
    """What one call of a learner's function brought: a value, or the exception's `kind` and `text`.

    kind "TimeoutError" with no value: it took too long.
    """

    value: Value | None = None
    kind: str = ""
    text: str = ""

    @property
    def timeout(self) -> bool:
        return self.value is None and self.kind == "TimeoutError"


@dataclass(frozen=True)
class Heard:
    """One conversation. `answers` by wire name; `results` by function, in the order of its inputs, shorter when the
    talk broke off; `ended` how: done, silent (nothing was submitted), stopped (the cell ended first), late (out of
    time), closed (the kernel hung up), garbled (too much that is no message), broken (an error of our own). `notes` are
    for graders.
    """

    submitted: bool = False
    answers: Mapping[str, Value] = field(default_factory=dict)
    results: Mapping[str, tuple[Result, ...]] = field(default_factory=dict)
    ended: Ended = "silent"
    notes: tuple[str, ...] = ()


NOTHING = Heard()
