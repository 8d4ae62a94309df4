"""Steps 1 to 5: what lives from step to step."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from autograder.learner.walkthrough import model as taught
from autograder.learner.walkthrough.model import COLUMN, Model, pieces
from autograder.learner.walkthrough.picture import COLOUR, GREY, Picture, bare, box, canvas, count, gb

RANK_COLOURS = ["#56B4E9", "#E69F00", "#009E73", "#CC79A7", "#F0E442", "#0072B2", "#D55E00", "#999999"]
_SHOWN = 8


def strip(model: Model) -> Picture:
    """Step 1: a strip of boxes, one a parameter, and what the strip weighs."""
    figure, (ax,) = canvas(8, 1.9)
    boxes = [*range(9), 11]
    for place in boxes:
        name = f"$\\theta_{{{place + 1}}}$" if place < 9 else "$\\theta_P$"
        box(ax, place, 0, 0.9, 1, COLOUR["parameter"], name, fontsize=12)
        ax.text(place + 0.45, -0.12, f"{model.width} B", ha="center", va="top", fontsize=9)
    ax.text(9.95, 0.5, "…", ha="center", va="center", fontsize=18)
    whole = model.P * model.width
    ax.annotate("", (11.9, 1.3), (0, 1.3), arrowprops={"arrowstyle": "<->"})
    words = f"P = {count(model.P)} boxes × {model.width} B in {model.dtype} = {gb(whole)}"
    ax.text(5.95, 1.4, words, ha="center", va="bottom", fontsize=11)
    ax.set(xlim=(-0.1, 12), ylim=(-0.5, 2))
    bare(ax)
    return Picture(
        figure,
        f"""A strip of boxes, from theta 1 to theta P, each marked {model.width} B. Above it an arrow over the whole
        strip: {count(model.P)} boxes of {model.width} bytes in {model.dtype} take {gb(whole)}.""",
    )


def column(model: Model) -> Picture:
    """Step 2: what one parameter brings along, for both splits of 16 bytes, the learner's own in full colour."""
    figure, (ax,) = canvas(7, 4)
    mixed = model.dtype if model.dtype != "fp32" else "bf16"
    for place, (title, dtype) in enumerate((("fp32 Adam", "fp32"), (f"{mixed}, ZeRO layout", mixed))):
        own = dtype == model.dtype
        bottom = 0
        for name, size in COLUMN[dtype].items():
            text = f"{name}, {size} B"
            box(ax, place, bottom, 0.8, size, COLOUR[name], text, alpha=1 if own else 0.35)
            bottom += size
        ax.text(place + 0.4, bottom + 0.3, f"{bottom} B", ha="center", va="bottom")
        ax.text(place + 0.4, -0.4, title + (" (yours)" if own else ""), ha="center", va="top")
    ax.bar(2, model.width, 0.8, align="edge", color="white", edgecolor="black", linestyle=":")
    ax.text(2.4, model.width + 0.3, f"{model.width} B", ha="center", va="bottom")
    ax.text(2.4, -0.4, "the model alone", ha="center", va="top")
    ax.set(xlim=(-0.2, 3), ylim=(-1.6, 18), xticks=[], yticks=range(0, 17, 4), ylabel="bytes a parameter")
    ax.spines["bottom"].set_visible(False)
    own_parts = ", ".join(f"{name} {size}" for name, size in model.column.items())
    return Picture(
        figure,
        f"""Two columns of equal height, 16 bytes a parameter: fp32 Adam with four boxes of 4 bytes, mixed precision
        with five boxes of 2, 2, 4, 4 and 4. Yours, {model.dtype}: {own_parts}. Beside them, dotted, the
        {model.width} bytes of the model alone.""",
    )


def replicas(model: Model) -> Picture:
    """Step 3: every rank of plain data parallelism holds the same full column."""
    figure, (ax,) = canvas(8, 3.6)
    shown = min(model.N, _SHOWN)
    for rank in range(shown):
        _stack(ax, rank, model, 1)
    whole = taught.replica(model.P) / 1e9
    ax.axhline(model.memory, color="black", linestyle="--", linewidth=1)
    ax.text(shown + 1.1, model.memory, f"{model.memory:g} GB card", ha="right", va="bottom")
    _ranks(ax, shown, model.N)
    ax.set(ylabel="GB on one GPU", ylim=(0, 1.1 * max(whole, model.memory)), xlim=(-0.2, shown + 1.2))
    _legend(figure, model)
    more = f", {model.N - shown} more like them," if shown < model.N else ""
    fits = "below" if whole <= model.memory else "above"
    return Picture(
        figure,
        f"""{shown} equal columns{more} of {gb(whole * 1e9)}, carbon copies of one another. They end {fits} the
        dashed line of a {model.memory:g} GB card, and no number of GPUs moves them.""",
    )


def shards(model: Model) -> Picture:
    """Step 4: the strip cut into N pieces, each in the colour of the rank that owns it."""
    figure, (ax,) = canvas(8, 2.6)
    shown = min(model.N, 8)
    cut = pieces(model.P, model.N)
    each = max(cut)
    for rank in range(shown):
        colour = RANK_COLOURS[rank % len(RANK_COLOURS)]
        box(ax, rank, 2, 1, 1, colour, f"$\\theta^{{({rank})}}$", fontsize=12)
        box(ax, rank + 0.14, 0, 0.72, 0.72, colour, "", hatch="" if cut[rank] == each else "//")
        ax.annotate("", (rank + 0.5, 0.8), (rank + 0.5, 1.95), arrowprops={"arrowstyle": "->"})
        ax.text(rank + 0.5, -0.12, f"GPU {rank}", ha="center", va="top", fontsize=9)
    if shown < model.N:
        ax.text(shown + 0.1, 2.5, f"… {model.N} pieces", ha="left", va="center", fontsize=11)
    ax.text(0, 3.2, f"{count(model.P)} parameters, {count(each)} on a rank", ha="left", va="bottom")
    ax.set(xlim=(-0.2, shown + 1.6), ylim=(-0.6, 3.8))
    bare(ax)
    last = "" if cut[-1] == each else f" The last rank has {count(cut[-1])} and is padded."
    return Picture(
        figure,
        f"""The strip of parameters as {shown} coloured segments{f" of {model.N}" if shown < model.N else ""}; from
        each an arrow leads down to the GPU that owns it, and no GPU holds the whole strip. A rank has {count(each)}
        of {count(model.P)} parameters.{last}""",
    )


def columns(model: Model) -> Picture:
    """Step 5: short columns inside the dotted outline of the replica."""
    figure, (ax,) = canvas(8, 3.6)
    shown = min(model.N, _SHOWN)
    whole = taught.replica(model.P) / 1e9
    for rank in range(shown):
        ax.bar(rank + 0.4, whole, 0.8, color=GREY, alpha=0.35, edgecolor="grey", linestyle=":")
        _stack(ax, rank, model, model.N)
        share = taught.persistent(model.P, model.N)
        ax.text(rank + 0.4, share / 1e9, gb(share), ha="center", va="bottom", fontsize=9)
    ax.axhline(model.memory, color="black", linestyle="--", linewidth=1)
    ax.text(shown + 1.1, model.memory, f"{model.memory:g} GB card", ha="right", va="bottom")
    _ranks(ax, shown, model.N)
    ax.set(ylabel="GB on one GPU", ylim=(0, 1.1 * max(whole, model.memory)), xlim=(-0.2, shown + 1.2))
    _legend(figure, model)
    return Picture(
        figure,
        f"""For each of {model.N} GPUs{f", {shown} of them shown," if shown < model.N else ""} a column with the same
        colours as before, {gb(taught.persistent(model.P, model.N))} high, inside the grey outline of the
        {gb(taught.replica(model.P))} that it was.""",
    )


def against_ranks(model: Model, formula: Callable[[float, float], float] | None = None) -> Picture:
    """Step 5: persistent memory against N, from `formula(P, N)`, the learner's own where it is written."""
    worlds = sorted({*(2**power for power in range(11)), model.N})
    heights, whose = _from(formula, model.P, worlds)
    figure, (ax,) = canvas(7.5, 3.6)
    ax.axhline(taught.replica(model.P) / 1e9, color=COLOUR["gradient"], linewidth=2.5, label="replicas: 16P")
    ax.plot(worlds, heights, color=COLOUR["parameter"], marker="o", linewidth=2.5, label=whose)
    ax.axhline(model.memory, color="black", linestyle="--", linewidth=1)
    ax.text(max(worlds), 0.85 * model.memory, f"{model.memory:g} GB card", ha="right", va="top")
    own = heights[worlds.index(model.N)]
    ax.plot([model.N], [own], marker="D", markersize=11, color="black", fillstyle="none", linestyle="none")
    ax.annotate(f"N = {model.N}: {gb(own * 1e9)}", (model.N, own), (8, 8), textcoords="offset points")
    ax.set(xscale="log", yscale="log", xlabel="ranks N", ylabel="GB on one GPU")
    ticks = [1, 4, 16, 64, 256, 1024]
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()
    ax.legend(frameon=False, loc="lower left")
    return Picture(
        figure,
        f"""Memory of one GPU against the number of ranks, both on scales where each step multiplies. Replicas are a
        flat line at {gb(taught.replica(model.P))}. The sharded line falls by half with every doubling and stands at
        {gb(own * 1e9)} for your N = {model.N}. Line drawn: {whose}.""",
    )


def _from(
    formula: Callable[[float, float], float] | None, P: int, worlds: list[int]
) -> tuple[list[float], str]:
    try:
        if formula is not None:
            return [float(formula(P, N)) / 1e9 for N in worlds], "your persistent(P, N)"
    except NotImplementedError:
        pass  # not written yet: the taught formula stands in, and the legend says so
    return [taught.persistent(P, N) / 1e9 for N in worlds], "sharded: 16P/N"


def _stack(ax: Axes, place: int, model: Model, parts: int) -> None:
    bottom = 0.0
    for name, size in model.column.items():
        height = size * model.P / parts / 1e9
        box(ax, place, bottom, 0.8, height, COLOUR[name])
        bottom += height


def _ranks(ax: Axes, shown: int, ranks: int) -> None:
    names = [f"GPU {rank}" for rank in range(shown)]
    ax.set_xticks([rank + 0.4 for rank in range(shown)], names)
    if ranks > shown:
        ax.text(shown - 0.1, 0, f" … {ranks} GPUs", ha="left", va="bottom")


def _legend(figure: Figure, model: Model) -> None:
    boxes = [Patch(facecolor=COLOUR[name], edgecolor="black", label=name) for name in reversed(model.column)]
    figure.legend(handles=boxes, loc="outside right center", frameon=False)
