"""What a learner sees after a submit: one object, rich in a notebook and plain elsewhere.

Every state has a sign and a word besides its colour (Okabe and Ito's palette, safe for colour-blind eyes), and text
keeps the theme's own colours, so that it reads in JupyterLab's light and dark themes alike.
"""

from __future__ import annotations

import html
import itertools
import re
import sys
from dataclasses import dataclass
from typing import Any, Literal

State = Literal["right", "holds", "wrong", "missing", "unreadable", "unsure", "recorded"]

_LOOKS: dict[State, tuple[str, str, str]] = {
    # sign, word, colour of the bar
    "right": ("✓", "right", "#0072b2"),
    "holds": ("✓", "holds on the examples", "#0072b2"),
    "wrong": ("✗", "wrong", "#d55e00"),
    "missing": ("○", "missing", "#8c8c8c"),
    "unreadable": ("?", "cannot be read", "#d55e00"),
    "unsure": ("·", "not checked here", "#8c8c8c"),
    "recorded": ("●", "recorded", "#8c8c8c"),
}
BAD = frozenset({"wrong", "missing", "unreadable"})


@dataclass(frozen=True)
class Line:
    """What is said about one answer. `title` names a misconception, `text` explains, `see` points on."""

    name: str
    state: State
    text: str = ""
    title: str = ""
    see: str = ""


@dataclass(frozen=True)
class Report:
    """What is said about one submit: a line an answer, and a remark on the whole."""

    exercise: str
    lines: tuple[Line, ...] = ()
    remark: str = ""

    @property
    def bad(self) -> bool:
        """Whether an answer is wrong, missing or unreadable."""
        return any(line.state in BAD for line in self.lines)

    def __repr__(self) -> str:
        head = f"{self.exercise}: {self.remark}" if self.remark else self.exercise
        lines = _shown(self)
        width = max((len(line.name) for line in lines), default=0)
        return "\n".join([head, *(_plain(line, width, self.exercise) for line in lines)])

    def _repr_html_(self) -> str:
        head = f"<strong>{_safe(self.exercise)}</strong>"
        if self.remark:
            head += f" <span>{_safe(self.remark)}</span>"
        rows = "".join(_row(line, self.exercise) for line in _shown(self))
        listed = f'<ul style="list-style:none;margin:.3em 0 0;padding:0">{rows}</ul>' if rows else ""
        return (
            '<div role="status" style="font-family:var(--jp-content-font-family,sans-serif);'
            f'font-size:var(--jp-content-font-size1,14px);line-height:1.5;color:var(--jp-ui-font-color0,inherit)">{head}{listed}</div>'
        )


def show(report: Report) -> None:
    """Displays the report in a notebook, prints it elsewhere."""
    interactive: Any = sys.modules.get("IPython")
    if interactive is not None and interactive.get_ipython() is not None:
        from IPython.display import display

        display(report)
    else:
        print(repr(report))


def pointer(see: str, exercise: str) -> str:
    """ "See …." for where a misconception points, "" where that is the exercise at hand ("exercise 2.1" in 2.1)."""
    return f"See {see}." if see.strip() and see.split()[-1] != exercise else ""


def _shown(report: Report) -> list[Line]:
    """The lines as they are shown: "claim" for "q001/claim" in q001, and what explains two lines in a row only once."""
    names = [line.name.removeprefix(f"{report.exercise}/") for line in report.lines]
    said = [(line.state, line.text, line.title) for line in report.lines]
    once = [now != then or now[0] not in ("right", "unreadable") for now, then in itertools.pairwise(said)]
    return [
        Line(name, line.state, *((line.text, line.title, line.see) if told else ()))
        for name, line, told in zip(names, report.lines, [*once, True], strict=False)
    ]


def _plain(line: Line, width: int, exercise: str) -> str:
    sign, word, _ = _LOOKS[line.state]
    said = f"  {sign} {line.name:<{width}}  {word}"
    return said + _after(": ", _words(line, exercise))


def _words(line: Line, exercise: str) -> str:
    title = f"“{line.title}”" if line.title else ""
    return " ".join(part for part in (title, line.text, pointer(line.see, exercise)) if part)


def _after(before: str, text: str) -> str:
    return f"{before}{text}" if text else ""


def _row(line: Line, exercise: str) -> str:
    sign, word, colour = _LOOKS[line.state]
    title = f" <em>“{_safe(line.title)}”</em>" if line.title else ""
    # A few words stay on the line; an explanation gets one of its own, and begins as a sentence does.
    text = f'<div style="margin-top:.15em">{sentence(line.text)}</div>' if line.text else ""
    if line.state in ("missing", "holds") and line.text:
        text = f": <span>{_coded(line.text)}</span>"
    points = pointer(line.see, exercise)
    see = f'<div style="opacity:.8">{_safe(points)}</div>' if points else ""
    return (
        f'<li style="border-left:4px solid {colour};padding:.2em .6em;margin:.25em 0">'
        f'<span aria-hidden="true">{sign}</span> <code>{_safe(line.name)}</code> <strong>{word}</strong>'
        f"{title}{text}{see}</li>"
    )


def sentence(text: str) -> str:
    """The text as HTML: escaped, `code` set as code, a capital first. Maths in dollar signs is left to the page."""
    return _coded(text[:1].upper() + text[1:])


def _coded(text: str) -> str:
    return re.sub(r"`([^`\n]+)`", r"<code>\1</code>", _safe(text))


def _safe(text: str) -> str:
    return html.escape(text, quote=True)
