"""Step 7 and the summary: what the formula does not protect from, and all of it on one canvas."""

from __future__ import annotations

from matplotlib.axes import Axes

from autograder.learner.walkthrough import model as taught
from autograder.learner.walkthrough.model import Model
from autograder.learner.walkthrough.picture import BLUE, COLOUR, GREY, ORANGE, PINK, Picture, box, canvas, gb


def apart(model: Model, checkpointed: bool = False) -> Picture:
    """Activations stand apart: the shard falls with N, they do not."""
    worlds = sorted({1, 4, 16, 64, 256, model.N})
    act = taught.activations(model, checkpointed) / 1e9
    shares = [taught.persistent(model.P, N) / 1e9 for N in worlds]
    figure, (ax,) = canvas(8, 3.6)
    places = range(len(worlds))
    bars = ax.bar([p - 0.2 for p in places], shares, 0.38, color=BLUE, edgecolor="black", label="16P/N")
    label = "activations of one rank" + (", checkpointed" if checkpointed else "")
    ax.bar(
        [p + 0.2 for p in places],
        [act] * len(worlds),
        0.38,
        color=PINK,
        edgecolor="black",
        hatch="\\\\",
        label=label,
    )
    ax.bar_label(bars, [gb(share * 1e9) for share in shares], padding=2, fontsize=8)
    ax.axhline(model.memory, color="black", linestyle="--", linewidth=1)
    ax.text(len(worlds) - 0.5, model.memory, f"{model.memory:g} GB card", ha="right", va="bottom")
    ax.set_xticks(list(places), [f"N = {N}" + (" (yours)" if N == model.N else "") for N in worlds])
    ax.set(ylabel="GB on one GPU", ylim=(0, 1.25 * max(*shares, act, model.memory)))
    ax.legend(frameon=False, loc="upper right", ncols=2)
    return Picture(
        figure,
        f"""For each number of ranks from 1 to {max(worlds)} two bars. The first, 16P/N, falls from
        {gb(shares[0] * 1e9)} to {gb(shares[-1] * 1e9)}. The second, hatched, {label}, is {gb(act * 1e9)} high
        everywhere.""",
    )


def cases(model: Model) -> Picture:
    """The three degenerate cases side by side: one rank, a model that fits anyway, activations larger than all."""
    figure, axes = canvas(9.5, 3.6, 3)
    replica, share = taught.replica(model.P) / 1e9, taught.persistent(model.P, model.N) / 1e9
    small, act = taught.replica(1_300_000_000) / 1e9, taught.activations(model) / 1e9
    _pair(axes[0], "1 · N = 1", (replica, replica), ("16P", "16P/1"), (GREY, BLUE), model.memory)
    _pair(
        axes[1],
        "2 · 1.3 billion fit anyway",
        (small, small / model.N),
        ("16P", f"16P/{model.N}"),
        (GREY, BLUE),
        model.memory,
    )
    _pair(
        axes[2],
        "3 · activations",
        (share, act),
        (f"16P/{model.N}", "activations"),
        (BLUE, PINK),
        model.memory,
    )
    axes[0].set_ylabel("GB on one GPU")
    return Picture(
        figure,
        f"""Three pairs of bars against the dashed line of a {model.memory:g} GB card. First, on one rank: 16P and
        16P/1 are equally high, {gb(replica * 1e9)}. Second, a model of 1.3 billion parameters: {gb(small * 1e9)} and
        {gb(small / model.N * 1e9)}, both below the line. Third, yours on {model.N} ranks: a shard of
        {gb(share * 1e9)} beside activations of {gb(act * 1e9)}.""",
    )


def summary(model: Model) -> Picture:
    """The one-picture summary: replica, shards, bubble, and the activations that nothing of this touches."""
    figure, (ax,) = canvas(9.5, 4.2)
    replica, share = taught.replica(model.P) / 1e9, taught.persistent(model.P, model.N) / 1e9
    moment = 3 * taught.gathered(model.largest, model.width) / 1e9
    act = taught.activations(model) / 1e9
    top = 1.2 * max(replica, share + moment, act, model.memory)
    bottom = 0.0
    for name, size in model.column.items():
        height = size * model.P / 1e9
        box(ax, 0, bottom, 1, height, COLOUR[name], f"{name}" if height > top / 18 else "")
        bottom += height
    shown = min(model.N, 4)
    for rank in range(shown):
        at = 2.3 + 0.75 * rank
        ax.bar(at, replica, 0.6, align="edge", color="none", edgecolor="grey", linestyle=":")
        box(ax, at, 0, 0.6, share, BLUE)
        box(ax, at, share, 0.6, moment, ORANGE, hatch="//")
    end = 2.3 + 0.75 * shown
    box(ax, end + 1.3, 0, 1, act, PINK, hatch="\\\\")
    ax.annotate("", (2.15, replica / 2), (1.15, replica / 2), arrowprops={"arrowstyle": "->", "linewidth": 2})
    ax.text(1.65, replica / 2, "slice,\ndeal out", ha="center", va="bottom", fontsize=9)
    ax.axhline(model.memory, color="black", linestyle="--", linewidth=1)
    ax.text(end + 2.5, model.memory, f"{model.memory:g} GB card", ha="right", va="bottom", fontsize=9)
    for at, text in (
        (0.5, f"16P = {gb(replica * 1e9)}\non every rank"),
        (
            (2.3 + end) / 2,
            f"16P/N = {gb(share * 1e9)} on each of {model.N},\nthree units for a moment: {gb(moment * 1e9)}",
        ),
        (end + 1.8, f"activations\n{gb(act * 1e9)}, whole"),
    ):
        ax.text(at, -0.04 * top, text, ha="center", va="top", fontsize=9)
    ax.set(xlim=(-0.6, end + 2.7), ylim=(-0.26 * top, top), xticks=[], ylabel="GB on one GPU")
    ax.spines["bottom"].set_visible(False)
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= top])
    return Picture(
        figure,
        f"""Left a full column, 16P = {gb(replica * 1e9)}, on every rank. An arrow, slice and deal out, leads to
        {shown} short columns of {gb(share * 1e9)}, each in the dotted outline of the full one and each with a hatched
        bubble of {gb(moment * 1e9)} on top. To the right, apart and untouched, the activations of one rank,
        {gb(act * 1e9)}.""",
    )


def _pair(
    ax: Axes,
    title: str,
    heights: tuple[float, float],
    names: tuple[str, str],
    colours: tuple[str, str],
    memory: float,
) -> None:
    bars = ax.bar([0, 1], heights, 0.7, color=colours, edgecolor="black")
    ax.bar_label(bars, [gb(height * 1e9) for height in heights], padding=2)
    ax.axhline(memory, color="black", linestyle="--", linewidth=1)
    ax.set_title(title, fontsize=11)
    ax.set_xticks([0, 1], names)
    ax.set_ylim(0, 1.2 * max(*heights, memory))
