"""Step 6: the bubble, what stands gathered for a moment, over one forward and backward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from autograder.learner.overlap import Span, timeline
from autograder.learner.walkthrough.model import Model, gathered
from autograder.learner.walkthrough.picture import BLUE, GREEN, ORANGE, Picture, box, canvas, gb

UNITS = 5
"""Equal units that are drawn; more would only repeat the middle."""
_STEPS = 1200


@dataclass(frozen=True)
class Held:
    """What a rank holds at `time`, in units of one unit's numbers: gathered parameters, and unsharded gradients."""

    time: float
    parameters: float
    gradients: float

    @property
    def total(self) -> float:
        return self.parameters + self.gradients


def spans(link: float, prefetch: bool = True, units: int = UNITS) -> list[Span]:
    """One step of equal units whose forward takes 1; a gather and a reduce-scatter take `link`."""
    each = [float(link)] * units
    return timeline([1.0] * units, each, each, prefetch=prefetch)


def held(over: Sequence[Span], steps: int = _STEPS) -> list[Held]:
    """What is held over time. A unit's parameters stand from the beginning of their gather to the end of the compute
    that they are for; its gradient grows while its backward runs and stands until it is reduce-scattered.
    """
    alive: list[tuple[float, float]] = []
    grows: list[tuple[float, float, float]] = []
    computes = {(span.phase, span.unit): span for span in over if span.kind == "compute"}
    for span in over:
        if span.kind == "gather":
            alive.append((float(span.start), float(computes[span.phase, span.unit].end)))
        elif span.kind == "scatter":
            work = computes["backward", span.unit]
            grows.append((float(work.start), float(work.end), float(span.end)))
    end = max(float(span.end) for span in over)
    found = []
    for step in range(steps + 1):
        now = end if step == steps else end * step / steps
        parameters = sum(start <= now < until for start, until in alive)
        gradients = sum(
            min(1.0, (now - start) / (full - start)) for start, full, until in grows if start <= now < until
        )
        found.append(Held(now, parameters, gradients))
    return found


def bubble(model: Model, link: float = 0.5, prefetch: bool = True) -> Picture:
    """What the GPU and the link do over a step of five equal units, and under it what stands gathered meanwhile.

    `link`: how long a gather or a reduce-scatter of a unit takes, where the unit's forward takes 1.
    """
    over = spans(link, prefetch)
    memory = held(over)
    one = gathered(model.largest, model.width)
    figure, (lanes, ax) = canvas(9, 4.8, rows=2, sharex=True, height_ratios=[2, 3])
    for span in over:
        lane, colour = {"compute": (1, GREEN), "gather": (0, BLUE), "scatter": (0, ORANGE)}[span.kind]
        start, takes = float(span.start), float(span.end - span.start)
        hatch = {"scatter": "//"}.get(span.kind, "")
        wide = takes > 0.35
        box(lanes, start, lane + 0.1, takes, 0.8, colour, str(span.unit) if wide else "", hatch=hatch)
    end = max(float(span.end) for span in over)
    middle = max(float(s.end) for s in over if s.kind == "compute" and s.phase == "forward")
    for each in (lanes, ax):
        each.axvline(middle, color="black", linestyle=":", linewidth=1)
    lanes.set(yticks=[0.5, 1.5], ylim=(0, 2.5), xlim=(0, end * 1.01))
    lanes.set_yticklabels(["link", "GPU"])
    lanes.text(middle, 2.05, "forward  ", ha="right", va="bottom")
    lanes.text(middle, 2.05, "  backward", ha="left", va="bottom")
    times = [at.time for at in memory]
    parameters = [at.parameters * one / 1e9 for at in memory]
    total = [at.total * one / 1e9 for at in memory]
    ax.fill_between(times, parameters, color=BLUE, linewidth=0, label="gathered parameters")
    ax.fill_between(
        times,
        parameters,
        total,
        facecolor=ORANGE,
        edgecolor="black",
        hatch="//",
        linewidth=0,
        label="unsharded gradients",
    )
    ax.plot(times, total, color="black", linewidth=1)
    ax.axhline(3 * one / 1e9, color="black", linestyle="--", linewidth=1)
    ax.text(0, 3 * one / 1e9, " three units", ha="left", va="bottom")
    ax.set(xticks=[], xlabel="time →", ylabel="GB beyond the shard", ylim=(0, 4.4 * one / 1e9))
    ax.legend(frameon=False, loc="upper right", ncols=2)
    idle = end - 3 * UNITS
    peak = max(at.total for at in memory)
    how = "with prefetching" if prefetch else "without prefetching"
    return Picture(
        figure,
        f"""Above, two lanes over time, {how}: the GPU computes units 0 to 4 in forward and 4 to 0 in backward; the
        link gathers each unit before it is needed and reduce-scatters each gradient after it is made. A gather takes
        {link:g} of a unit's forward, and the step takes {idle:.3g} forwards longer than its compute. Below, what stands
        beyond the shard: bubbles of {gb(one)} that swell and burst. The fullest moment holds {peak:.2g} units,
        {gb(peak * one)}, in backward.""",
    )
