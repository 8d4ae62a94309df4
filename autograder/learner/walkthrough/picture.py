"""A picture: a matplotlib figure with words for those who cannot see it."""

from __future__ import annotations

import io
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLOUR = {
    "parameter": "#56B4E9",
    "gradient": "#E69F00",
    "fp32 master": "#F0E442",
    "momentum": "#009E73",
    "variance": "#CC79A7",
}
"""Colours that stay apart for every kind of colour vision (Okabe and Ito)."""
BLUE, ORANGE, GREEN, PINK, YELLOW = (
    COLOUR[name] for name in ("parameter", "gradient", "momentum", "variance", "fp32 master")
)
GREY = "#D9D9D9"
DOTS = 110


class Picture:
    """A figure as a notebook shows it: PNG with `alt`, which is also its text. Compare and print it as its text."""

    def __init__(self, figure: Figure, alt: str) -> None:
        self.alt = " ".join(alt.split())
        held = io.BytesIO()
        figure.savefig(held, format="png", dpi=DOTS)
        self.png = held.getvalue()

    def __repr__(self) -> str:
        return self.alt

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"image/png": self.png, "text/plain": self.alt}, {"image/png": {"alt": self.alt}}


def canvas(width: float, height: float, columns: int = 1, **options: Any) -> tuple[Figure, list[Axes]]:
    """An empty figure and its axes in a row (or, of `rows=2`, below each other), without frames on top and right."""
    figure = Figure(figsize=(width, height), layout="constrained")
    made = figure.subplots(options.pop("rows", 1), columns, squeeze=False, **options)
    axes = list(made.flat)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return figure, axes


def bare(ax: Axes) -> None:
    """No frame, no ticks: a drawing, not a chart."""
    ax.spines[:].set_visible(False)
    ax.set(xticks=[], yticks=[])


def box(
    ax: Axes, x: float, y: float, width: float, height: float, colour: str, text: str = "", **more: Any
) -> None:
    """A box from (x, y) with a text in its middle."""
    size = more.pop("fontsize", 9)
    ax.bar(x, height, width, y, align="edge", color=colour, edgecolor="black", linewidth=0.8, **more)
    if text:
        ax.text(x + width / 2, y + height / 2, text, ha="center", va="center", fontsize=size)


def gb(size: float) -> str:
    """Bytes in words: three digits that count, in B, MB, GB or TB."""
    for name, unit in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= unit:
            return f"{_short(size / unit)} {name}"
    return f"{_short(size)} B"


def count(value: float) -> str:
    """A number of parameters in words: 7 billion, 210 million."""
    for name, unit in (("trillion", 1e12), ("billion", 1e9), ("million", 1e6), ("thousand", 1e3)):
        if value >= unit:
            return f"{_short(value / unit)} {name}"
    return _short(value)


def _short(value: float) -> str:
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"
