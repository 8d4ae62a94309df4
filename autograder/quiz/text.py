"""The little Markdown that items are written in, taken apart: plain text, `code`, **strong**, *emphasis*, $maths$.

A dollar begins maths only where a dollar can end it: "$5 and $x$" holds the maths x and one dollar of money.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import Literal
from xml.etree import ElementTree as ET

from latex2mathml.converter import convert

Kind = Literal["text", "code", "math", "strong", "emphasis", "break"]

_SPAN = re.compile(
    r"(?P<code>`[^`\n]+`)"
    r"|(?P<math>\$(?=[^\s$])(?:\\.|[^$\\\n])*(?<!\s)\$(?!\d))"
    r"|\*\*(?P<strong>(?=\S)[^*\n]+?(?<=\S))\*\*"
    r"|(?<![\w*])\*(?P<emphasis>(?=[^\s*])[^*\n]+?(?<=[^\s*]))\*(?![\w*])"
    r"|(?P<break>\n[ \t]*\n\s*)"
)


@dataclass(frozen=True)
class Span:
    """A piece of a text: what it is, and its characters without marks."""

    kind: Kind
    text: str


class BadMaths(ValueError):
    """LaTeX that does not render: what, and why."""


def spans(text: str) -> tuple[Span, ...]:
    """`text` in pieces, none of them empty."""
    found: list[Span] = []
    at = 0
    for match in _SPAN.finditer(text):
        if match.start() > at:
            found.append(Span("text", text[at : match.start()]))
        if match["code"]:
            found.append(Span("code", match["code"][1:-1]))
        elif match["math"]:
            found.append(Span("math", match["math"][1:-1]))
        elif match["strong"]:
            found.append(Span("strong", match["strong"]))
        elif match["emphasis"]:
            found.append(Span("emphasis", match["emphasis"]))
        else:
            found.append(Span("break", "\n\n"))
        at = match.end()
    if at < len(text):
        found.append(Span("text", text[at:]))
    return tuple(found)


def plain(text: str) -> str:
    """`text` without marks; maths stays LaTeX between dollars, as readers of plain text know it."""
    return "".join(f"${span.text}$" if span.kind == "math" else span.text for span in spans(text))


def to_html(text: str, maths: Literal["mathml", "tex", "dollars"] = "mathml") -> str:
    """`text` as HTML: maths as MathML, as LaTeX in \\( \\) for MathJax, or as it stands in dollars."""
    made = []
    for span in spans(text):
        safe = html.escape(span.text, quote=False)
        match span.kind:
            case "text":
                made.append(safe)
            case "code":
                made.append(f"<code>{safe}</code>")
            case "strong":
                made.append(f"<strong>{safe}</strong>")
            case "emphasis":
                made.append(f"<em>{safe}</em>")
            case "break":
                made.append("<br><br>")
            case "math" if maths == "mathml":
                made.append(mathml(span.text))
            case "math":
                made.append(f"\\({safe}\\)" if maths == "tex" else f"${safe}$")
    return "".join(made)


def mathml(latex: str) -> str:
    """LaTeX as MathML, which browsers render without anything else. Raises BadMaths where it does not render."""
    depth = 0
    for step in re.sub(r"\\.", "", latex):
        depth += (step == "{") - (step == "}")
        if depth < 0:
            break
    if depth:
        raise BadMaths(f"${latex}$: braces do not pair")
    try:
        # a bare & is LaTeX's mark of columns; outside of them the converter leaves it as it is
        made = re.sub(r"&(?!#?\w+;)", "&amp;", str(convert(latex)))
        ET.fromstring(made)
    except Exception as error:  # the converter has errors of many kinds, all of them about the LaTeX
        raise BadMaths(f"${latex}$: {error!r}") from error
    if unknown := re.search(r"\\[A-Za-z]+", made):
        raise BadMaths(f"${latex}$: unknown command {unknown[0]}")
    return made
