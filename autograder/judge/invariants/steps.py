"""Where the steps of a training run begin and end in a record, by the probe's marks.

A step goes from its mark to the next step's mark, the last one to the end, so that no call after the first mark is
outside all steps; what comes before it is what constructors do. A learner who forges marks can move calls from step to
step: so what they may earn never rests on marks alone, see `traffic.in_all`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from autograder.judge.lab import Finding
from autograder.judge.switch import Call, Mark, Trace

SEEN = "as the probe beside your code saw it"


@dataclass(frozen=True)
class Steps:
    """The steps of every rank of a run: `starts[rank]` is when each begins, in the switch's order."""

    trace: Trace
    starts: dict[int, tuple[int, ...]]

    def calls(self, rank: int, step: int, *kinds: str) -> tuple[Call, ...]:
        """The calls of one rank in one step, of these kinds (none given: all), without those that hand something in
        for the lab."""
        begin, end = self._span(rank, step)
        aside = [mark.order for mark in self.marks(rank, step, "aside")]
        pairs = list(zip(aside[::2], aside[1::2], strict=False))
        return tuple(
            call
            for call in self.trace.of(rank, *kinds)
            if begin <= call.order < end and not any(a < call.order < b for a, b in pairs)
        )

    def marks(self, rank: int, step: int, *names: str) -> tuple[Mark, ...]:
        """The marks of one rank in one step."""
        begin, end = self._span(rank, step)
        return tuple(mark for mark in self.trace.marked(rank, *names) if begin <= mark.order < end)

    def phase(self, rank: int, step: int, name: str, micro: int = 0) -> tuple[float, float]:
        """(begin, end) of a phase in the switch's order; (inf, -inf) where it was not marked."""
        found = {
            mark.values["at"]: mark.order
            for mark in self.marks(rank, step, "phase")
            if mark.values.get("phase") == name and mark.values.get("micro") == micro and "at" in mark.values
        }
        return found.get("begin", math.inf), found.get("end", -math.inf)

    @property
    def count(self) -> int:
        """How many steps there are."""
        return len(next(iter(self.starts.values())))

    def _span(self, rank: int, step: int) -> tuple[float, float]:
        begins = self.starts[rank]
        return begins[step], begins[step + 1] if step + 1 < len(begins) else math.inf


def of(trace: Trace, ranks: list[int], count: int) -> Steps | Finding:
    """The steps of `ranks`, each of which has to have begun `count`, in order; else the Finding that says so."""
    starts: dict[int, tuple[int, ...]] = {}
    for rank in ranks:
        marks = trace.marked(rank, "step")
        if [mark.values.get("step") for mark in marks] != list(range(count)):
            text = f"rank {rank} did not run steps 0 to {count - 1} under the probe: leave the training loop to the lab"
            return Finding(text, evidence={"rank": rank, "marks": len(marks)})
        starts[rank] = tuple(mark.order for mark in marks)
    return Steps(trace, starts)
