"""Formulas as pictures inside a page, so that a feedback page needs no network to be read.

matplotlib sets them: no program is called, nothing is fetched, and a picture runs no scripts. What it cannot set stays
as it was written.
"""

from __future__ import annotations

import base64
import functools
import html
import io
import re

_FORMULA = re.compile(
    r"```.*?```|`[^`\n]+`|\$\$(?P<shown>[^$<]{1,300})\$\$|\$(?!\s)(?P<inline>[^$<]{1,300}?)(?<!\s)\$(?!\d)",
    re.DOTALL,
)
_OTHERWISE = (
    (re.compile(r"\\[bB]ig[glr]?(?![A-Za-z])"), ""),
    (re.compile(r"\\(le|ge)(?![A-Za-z])"), r"\\\1q"),
)
"""What matplotlib has no name for."""

_OUR_TAGS = re.compile(r"</?(?:details|summary)>")


def in_markdown(text: str) -> str:
    """Markdown with its formulas as pictures. Where other HTML stands in it, all stays: a formula could be inside a
    tag, and a picture there would end it.
    """
    return text if "<" in _OUR_TAGS.sub("", text) else _FORMULA.sub(_set, text)


def in_html(page: str) -> str:
    """The same for HTML of our own, in which texts are escaped and no attribute holds a formula."""
    return _FORMULA.sub(_set, page)


def _set(found: re.Match[str]) -> str:
    formula = found["shown"] or found["inline"]
    made = _picture(" ".join(html.unescape(formula).split())) if formula else None
    if made is None:
        return found[0]
    data, depth, words = made
    place = "display:block;margin:.8em auto" if found["shown"] else f"vertical-align:-{depth:g}pt"
    return f'<img src="data:image/svg+xml;base64,{data}" style="{place}" alt="{words}">'


@functools.lru_cache(maxsize=500)
def _picture(formula: str) -> tuple[str, float, str] | None:
    from matplotlib.font_manager import FontProperties
    from matplotlib.mathtext import math_to_image

    known = formula
    for pattern, name in _OTHERWISE:
        known = pattern.sub(name, known)
    drawn = io.BytesIO()
    try:
        depth = math_to_image(
            f"${known}$", drawn, prop=FontProperties(size=11, math_fontfamily="cm"), dpi=72, format="svg"
        )
    except (ValueError, RecursionError):
        return None
    data = re.sub(rb"<metadata>.*?</metadata>\s*", b"", drawn.getvalue(), flags=re.DOTALL)
    words = html.escape(formula).replace("|", "&#124;")
    return base64.b64encode(data).decode(), float(depth), words
