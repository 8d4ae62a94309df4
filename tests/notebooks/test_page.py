"""What the judge writes into a page: said once, inert, and with formulas that need no network."""

from __future__ import annotations

import base64
import re
from types import SimpleNamespace

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.handin import page
from autograder.notebooks import feedback, maths
from autograder.verdict import UNSCORED, Part, PartStatus

BELIEF = SimpleNamespace(name="N divides all", refutation="Only the state is divided.", see="exercise 1.1")


def _html(reason: str, ident: str = "1.1/a", status: PartStatus = PartStatus.FAILED) -> str:
    score = None if status in UNSCORED else 1.0 if status is PartStatus.PASSED else 0.0
    part = Part(id=ident, status=status, score=score, max_score=1, reason=reason, misconception="m")
    return str(page.outputs([part], {"m": BELIEF})[0].data["text/html"])


def test_a_misconception_is_told_once() -> None:
    for reason in (
        "“N divides all”. Only the state is divided. For N = 2 it gives 1.",
        "for N = 2 it gives 1",
    ):
        shown = _html(reason)
        assert shown.count("N divides all") == shown.count("Only the state is divided.") == 1
        assert "For N = 2 it gives 1" in shown
        assert "See" not in shown
    assert "See exercise 1.1." in _html("no", "2.1/a")


def test_lines_of_a_reason_stay_lines_and_text_is_inert() -> None:
    shown = _html("rank 0 waits\nrank 1 waits <script>`x`")
    assert "pre-line" in shown and "Rank 0 waits\nrank 1 waits &lt;script&gt;<code>x</code>" in shown


@pytest.mark.parametrize("status", PartStatus)
def test_every_status_is_a_word_and_a_bar(status: PartStatus) -> None:
    shown = _html("why", status=status)
    assert f"<strong>{status.value}</strong>" in shown and "border-left:4px solid #" in shown


def test_formulas_become_pictures_with_the_formula_as_their_text() -> None:
    made = maths.in_markdown(r"so $16P/N \le \text{card}$, and $$\big[\theta \mid 1\big]$$ too")
    pictures = re.findall(r'<img src="data:image/svg\+xml;base64,([^"]*)" style="[^"]*" alt="([^"]*)">', made)
    assert [alt for _, alt in pictures] == [r"16P/N \le \text{card}", r"\big[\theta \mid 1\big]"]
    for data, _ in pictures:
        drawn = base64.b64decode(data).decode()
        assert drawn.count("<svg") == 1 and "<metadata" not in drawn
        assert all(link.startswith("#") for link in re.findall(r'href="([^"]*)"', drawn))
    assert "$" not in made


@pytest.mark.parametrize(
    "text",
    [
        "`$x$` and ```\n$y$\n```",
        "it costs $5 and then $6",
        r"$\nosuchname$",
        '<b title="$x$">bold</b> $y$',
        "$ x$",
    ],
)
def test_what_is_no_formula_stays(text: str) -> None:
    assert maths.in_markdown(text) == text


def test_a_formula_in_escaped_text_cannot_leave_its_picture() -> None:
    made = maths.in_html("<p>$x &lt; 1$ $a&quot; onload=&quot;b$</p>")
    assert 'alt="x &lt; 1"' in made
    assert 'onload="' not in made


def test_our_own_details_do_not_keep_formulas_from_being_set() -> None:
    assert "<img" in maths.in_markdown("<details><summary>Hint</summary>\n\nIt is $N - 1$.\n\n</details>")


def test_two_dollars_in_two_reasons_are_no_formula() -> None:
    """What lies between them is ours: the end of one part and the head of the next."""
    made = "<div>cost: $5x</div><div><strong>failed</strong> y$</div>"
    assert maths.in_html(made) == made


def test_a_page_of_thousands_of_formulas_is_left_to_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback, "_waiting", lambda names: set())
    for count, pictures in ((3, 3), (600, 0)):
        notebook = new_notebook(cells=[new_markdown_cell("$x$ " * count)])
        made, _ = feedback.ForLearners().preprocess(notebook, {"nbgrader": {}})
        assert made.cells[1].source.count("<img") == pictures
