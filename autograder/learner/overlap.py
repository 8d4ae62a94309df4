"""When each unit is gathered, computed and reduced: the overlap of one link and one GPU, taught openly.

Used by the pictures of the walkthrough and by the judge's budget model alike, so that both tell one story.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Duration = int | float | Fraction


@dataclass(frozen=True)
class Span:
    """One thing that happens: `unit` is gathered, computed or reduce-scattered from `start` to `end`."""

    kind: Literal["gather", "compute", "scatter"]
    phase: Literal["forward", "backward"]
    unit: int
    start: Duration
    end: Duration


def timeline(
    computes: Sequence[Duration],
    gathers: Sequence[Duration],
    scatters: Sequence[Duration],
    *,
    prefetch: bool = True,
) -> list[Span]:
    """Forward and backward over units, given for each its time of forward, of an all-gather and of a reduce-scatter.

    One GPU computes one unit at a time and one link carries one collective at a time, in the order of issue.
    Prefetching, the gather of the next unit is issued when the unit at work begins, else when it has ended. Backward
    takes twice forward's time; a unit's gradient is reduce-scattered once it has computed. Every unit is freed after
    forward and gathered again for backward. Raises ValueError for lists of different lengths.
    """
    if not len(computes) == len(gathers) == len(scatters):
        raise ValueError("computes, gathers and scatters are lists of one length, an entry for each unit")
    spans: list[Span] = []
    link: Duration = 0  # until when the link is taken
    gpu: Duration = 0

    def carry(
        kind: Literal["gather", "scatter"],
        phase: Literal["forward", "backward"],
        unit: int,
        issued: Duration,
        takes: Duration,
    ) -> Duration:
        nonlocal link
        start = max(link, issued)
        link = start + takes
        spans.append(Span(kind, phase, unit, start, link))
        return link

    order = range(len(computes))
    phases: tuple[tuple[Literal["forward", "backward"], list[int]], ...] = (
        ("forward", list(order)),
        ("backward", list(reversed(order))),
    )
    for phase, walk in phases:
        ready: Duration = carry("gather", phase, walk[0], gpu, gathers[walk[0]]) if walk else 0
        for place, unit in enumerate(walk):
            start = max(gpu, ready)
            takes = computes[unit] if phase == "forward" else 2 * computes[unit]
            gpu = start + takes
            following = walk[place + 1] if place + 1 < len(walk) else None
            if following is not None and prefetch:
                ready = carry("gather", phase, following, start, gathers[following])
            spans.append(Span("compute", phase, unit, start, gpu))
            if phase == "backward":
                carry("scatter", phase, unit, gpu, scatters[unit])
            if following is not None and not prefetch:
                ready = carry("gather", phase, following, gpu, gathers[following])
    return spans
