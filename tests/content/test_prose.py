"""No figure of the course stands in its text unless a formula gives it or an exercise states it."""

from __future__ import annotations

from fractions import Fraction

import pytest
from prose import BANK, NOTEBOOKS, PHRASES, SOURCES, Stated, figures, read

WHERE = (*NOTEBOOKS, *BANK)


@pytest.mark.parametrize("where", WHERE)
def test_every_figure_has_a_source_and_every_source_a_figure(where: str) -> None:
    found = figures(read(where))
    assert found, f"no figure found in {where}: the scan is broken"
    assert found - SOURCES[where].keys() == set(), "figures that nothing recomputes"
    assert SOURCES[where].keys() - found == set(), "entries for figures that are gone"


@pytest.mark.parametrize(
    ("where", "figure"),
    [
        (where, figure)
        for where in WHERE
        for figure, value in SOURCES[where].items()
        if not isinstance(value, Stated)
    ],
)
def test_every_figure_is_its_formula_rounded(where: str, figure: str) -> None:
    value = SOURCES[where][figure]
    assert not isinstance(value, Stated)
    shown = figure.split()[0]
    places = len(shown.partition(".")[2])
    assert abs(Fraction(shown) - value) <= Fraction(1, 2 * 10**places), f"{where}: {figure} is {float(value)}"


@pytest.mark.parametrize(
    ("where", "phrase", "holds"),
    [(where, phrase, holds) for where in WHERE for phrase, holds in PHRASES[where]],
)
def test_figures_in_words(where: str, phrase: str, holds: bool) -> None:
    assert phrase in " ".join(read(where).split())
    assert holds


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("needs **112 GB** a GPU", {"112 GB"}),
        ("a 16-byte word, 4 bytes, 12GB", {"16 byte", "4 byte", "12 GB"}),
        ("1-2% and 0.5 %", {"1-2 %", "0.5 %"}),
        ("$4$ B at 10 Gbit/s", {"4 B", "10 Gbit/s"}),
        ("a 7B model, Llama-3-8B, exercise 2.1, $10^9$ bytes", set()),
    ],
)
def test_the_scan_sees_figures_in_all_their_spellings(text: str, found: set[str]) -> None:
    assert figures(text) == found


def test_gb_and_gib_stand_together_only_where_they_are_told_apart() -> None:
    for name in NOTEBOOKS:
        for paragraph in read(name).split("\n\n"):
            if "GiB" in paragraph and "GB" in paragraph:
                assert "$2^{30}$" in paragraph or "same answer" in paragraph, paragraph
