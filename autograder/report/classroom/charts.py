"""Charts as inline SVG: no script, no font, no network; readable in print and for every kind of colour vision.

Colours are Okabe and Ito's. No chart says anything by colour alone: bars carry their number, cells their text. Every
chart has a title that says what it shows, for who cannot see it.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

BLUE, ORANGE, GREEN, VERMILION, GREY = "#0072b2", "#e69f00", "#009e73", "#d55e00", "#8c8c8c"
STATUS_COLOURS = {
    "graded": BLUE,
    "waits for a person": "#56b4e9",
    "ungradable": ORANGE,
    "rejected": VERMILION,
    "blocked": "#cc79a7",
    "absent": "#d9d9d9",
}


def histogram(counts: Sequence[int], labels: Sequence[str], title: str) -> str:
    """Columns side by side, each with its count above and its label below."""
    width, height, gap = 28, 90, 3
    most = max([*counts, 1])
    wide = len(counts) * (width + gap)
    parts = []
    for place, (count, label) in enumerate(zip(counts, labels, strict=True)):
        tall = round(height * count / most, 1)
        x, y = place * (width + gap), 16 + height - tall
        parts.append(_rect(x, y, width, tall, BLUE))
        if count:
            parts.append(_text(x + width / 2, y - 4, str(count), "middle"))
        parts.append(_text(x + width / 2, height + 30, label, "middle", small=True))
    parts.append(
        f'<line x1="0" y1="{16 + height}" x2="{wide - gap}" y2="{16 + height}" stroke="currentColor"/>'
    )
    return _svg(wide, height + 36, title, parts)


def stacked(counts: dict[str, int], title: str, wide: int = 320) -> str:
    """One bar cut in pieces by `STATUS_COLOURS`' names; a piece wide enough carries its number."""
    total = sum(counts.values()) or 1
    parts, x = [], 0.0
    for name, count in counts.items():
        if not count:
            continue
        width = wide * count / total
        colour = STATUS_COLOURS[name]
        parts.append(_rect(round(x, 1), 0, round(width, 1), 18, colour, about=f"{name}: {count}"))
        if width > 14:
            ink = "#fff" if name in ("graded", "rejected") else "#000"
            parts.append(_text(x + width / 2, 13, str(count), "middle", ink=ink, small=True))
        x += width
    return _svg(wide, 18, title, parts)


def meter(share: float, title: str, colour: str = BLUE, wide: int = 120) -> str:
    """A bar of a share between 0 and 1, in a frame that shows the whole."""
    filled = round(wide * min(max(share, 0.0), 1.0), 1)
    frame = f'<rect x="0.5" y="0.5" width="{wide - 1}" height="11" fill="none" stroke="{GREY}"/>'
    return _svg(wide, 12, title, [_rect(0, 0, filled, 12, colour), frame])


def shade(share: float) -> str:
    """A background for a table's cell, from white to a blue on which black text still reads."""
    part = min(max(share, 0.0), 1.0)
    red, green, blue = (round(255 - part * (255 - full)) for full in (0x56, 0xB4, 0xE9))
    return f"#{red:02x}{green:02x}{blue:02x}"


def _svg(wide: float, tall: float, title: str, parts: Sequence[str]) -> str:
    name = escape(title, quote=True)
    return (
        f'<svg role="img" aria-label="{name}" viewBox="0 0 {wide} {tall}" width="{wide}" height="{tall}">'
        f"<title>{name}</title>{''.join(parts)}</svg>"
    )


def _rect(x: float, y: float, wide: float, tall: float, colour: str, about: str = "") -> str:
    inside = f"<title>{escape(about)}</title>" if about else ""
    return f'<rect x="{x}" y="{y}" width="{wide}" height="{tall}" fill="{colour}">{inside}</rect>'


def _text(
    x: float, y: float, text: str, anchor: str, *, ink: str = "currentColor", small: bool = False
) -> str:
    size = 10 if small else 12
    return (
        f'<text x="{round(x, 1)}" y="{round(y, 1)}" text-anchor="{anchor}" font-size="{size}" fill="{ink}">'
        f"{escape(text)}</text>"
    )
