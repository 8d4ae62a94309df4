"""Questions with texts that break careless exporters."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from autograder.quiz.export.flat import Answer, Flat
from autograder.quiz.pose import Value

TEXTS = (
    r"$\nabla L$ and \nabla outside",
    r"$\frac{a}{b_{c}}$ and a bare }} of cloze",
    "# = ~ { } : all of them",
    r"\\ \: \n \t \x",
    "the <activations> of <b>a</b> layer",
    "a & b &amp; c &lt;",
    "cost $5 and $x$",
    "$5",
    "日本語 · ∂L/∂θ · 🙂",
    "مرحبا بالعالم 12%",
    "1e-5",
    "-15%",
    "%50%half",
    "-> right",
    "a -> b",
    "// no comment",
    "::title::",
    "[html] no format",
    "\"quotes\" and 'more'",
    "one\n\ntwo\nthree",
    "T",
    "TRUE#FALSE",
    "####",
    "]]> of cdata",
    "1+1\\=2",
    "{{cloze}}",
    "control \x07 character",
    "`code <T>` and **strong** and *emphasis*",
    "$a < b$ and $a & b$",
    "x" * 300,
)
"""Each of these went wrong in some exporter or importer."""

some_text = st.one_of(
    st.sampled_from(TEXTS),
    st.lists(st.sampled_from(TEXTS), min_size=2, max_size=3).map(" ".join),
    st.text(alphabet="ab\\#=~{}:%$<>&`*\"'-/[] ", min_size=1, max_size=12).map(lambda text: f"x{text}x"),
)
feedback = st.one_of(st.just(""), some_text)
numbers = st.one_of(
    st.sampled_from([Fraction(42), Fraction(-15), Fraction(0), Fraction("0.00001"), Fraction("31.40625")]),
    st.integers(-(10**9), 10**9).map(Fraction),
    st.decimals(-1000, 1000, places=4, allow_nan=False).map(Fraction),
)


@st.composite
def flats(draw: Any) -> Flat:
    """One question of any kind."""
    kind = draw(st.sampled_from(["truefalse", "choice", "number", "matching", "essay"]))
    more: dict[str, Any] = {}
    if kind == "truefalse":
        truth = draw(st.booleans())
        more["answers"] = (Answer("True", truth), Answer("False", not truth))
    if kind == "choice":
        right = draw(st.integers(0, 2))
        more["answers"] = tuple(
            Answer(draw(some_text), place == right, draw(feedback), draw(st.booleans())) for place in range(3)
        )
        more["code"] = draw(st.booleans())
        more["lines"] = tuple(draw(st.lists(some_text, max_size=3)))
    if kind == "number":
        value = draw(numbers)
        more |= {"value": value, "tolerance": abs(value) / 100 * draw(st.integers(0, 1)), "unit": "GB"}
        more["wrong"] = tuple(
            Value(value * factor + 1, draw(some_text)) for factor in draw(st.sampled_from([(), (2,), (3, 5)]))
        )
    if kind == "matching":
        steps = draw(st.lists(some_text, min_size=3, max_size=4, unique=True))
        more["pairs"] = tuple((step, str(place)) for place, step in enumerate(reversed(steps), 1))
    if kind == "essay":
        more["rubric"] = tuple(draw(st.lists(some_text, min_size=1, max_size=2)))
    return Flat(
        id="q001_0", item="q001", version=1, kind=kind, text=draw(some_text), feedback=draw(feedback),
        tags=("memory", "level-1"), **more,
    )  # fmt: skip


def named(questions: list[Flat]) -> list[Flat]:
    """The questions with ids of their own."""
    import dataclasses

    return [dataclasses.replace(flat, id=f"q{n:03}_0", item=f"q{n:03}") for n, flat in enumerate(questions)]
