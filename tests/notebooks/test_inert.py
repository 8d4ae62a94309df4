"""What learners write and print does nothing when it is looked at."""

from __future__ import annotations

import base64
import time

import pytest
from nbconvert.filters.markdown_mistune import markdown2html_mistune

from autograder.handin import inert, page
from autograder.verdict import PartStatus, scored, unscored

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<iframe src='javascript:alert(1)'></iframe>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java&#115;cript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](&#1;javascript:alert(1))",
    "![x](data:text/html;base64,PHNjcmlwdD4=)",
    "[a]\n\n[a]: vbscript:msgbox(1)",
    "<<script>script>alert(1)<</script>/script>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "`<script>alert(1)</script>`",
    "```html\n<script>alert(1)</script>\n```",
    "$\\unicode{x}<script>alert(1)</script>$",
    "<b style='position:fixed' onclick=alert(1)>x</b>",
    "<a href='ja\tvascript:alert(1)'>x</a>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_yields_nothing_active(text: str) -> None:
    shown = markdown2html_mistune(inert.markdown(text))
    assert not inert._active(shown), shown
    assert "<script" not in shown


def test_the_looker_sees_what_is_active() -> None:
    for text in (
        "<script>1</script>",
        "<p onclick=x>",
        "<a href='javascript:x'>",
        "<a href='java\nscript:x'>",
        "<svg>",
    ):
        assert inert._active(text)
    assert not inert._active("<p><a href='https://example.org'>x</a> <em>y</em></p>")


def test_maths_and_prose_survive() -> None:
    text = "**bold**, $a < b$ & $\\begin{aligned}x &= 1\\end{aligned}$\n\n> quoted\n\n- [link](https://example.org)"
    assert inert.markdown(text) == text


def _display(**data: object) -> list[dict[str, object]]:
    kept = inert.Outputs(1000)
    kept.hear("display_data", {"data": {k.replace("_", "/"): v for k, v in data.items()}})
    return [node["data"] for node in kept.nodes]


def test_only_text_and_real_pictures_are_kept() -> None:
    png = base64.b64encode(inert.PICTURES["image/png"] + b"rest").decode()
    assert _display(image_png=png + "\n", text_html="<script>") == [{"image/png": png}]
    for fake in ('"><script>alert(1)</script>', base64.b64encode(b"<svg/>").decode(), 7, [png]):
        assert "image/png" not in (_display(image_png=fake, text_plain="x") or [{}])[0]
    assert "left out" in str(_display(text_html="<b>x</b>"))
    assert "left out" in str(_display(**{"application_javascript": "alert(1)"}))


def test_output_is_bounded() -> None:
    kept = inert.Outputs(1000)
    for _ in range(100):
        kept.hear("stream", {"name": "stdout", "text": "x" * 100})
    assert len(kept.nodes) == 1
    assert len(kept.nodes[0].text) <= 1000 + len(inert.CUT)
    assert kept.nodes[0].text.count("cut here") == 1


def test_errors_and_escapes_are_bounded() -> None:
    kept = inert.Outputs(1000)
    for _ in range(100):
        kept.hear("error", {"ename": "E", "evalue": "x" * 400, "traceback": []})
    assert len(str(kept.nodes)) < 3000
    kept = inert.Outputs(100_000)
    for _ in range(3):
        kept.hear("display_data", {"data": {"text/plain": "\x1b[31m" * 400}})
    assert [str(node["data"]).count("x1b") for node in kept.nodes] == [400, 0, 0]


def test_pictures_have_a_budget() -> None:
    png = base64.b64encode(inert.PICTURES["image/png"] + b"rest").decode()
    kept = inert.Outputs(1000, pictures=2 * len(png))
    for _ in range(4):
        kept.hear("display_data", {"data": {"image/png": png}})
    assert sum("image/png" in node["data"] for node in kept.nodes) == 2


@pytest.mark.parametrize("piece", ["<b>", r"\begin{a}", "- a\n", "[a](", "> a\n\n"])
def test_no_text_takes_long_to_clean(piece: str) -> None:
    """Some of these take minutes in markdown's parser at this length."""
    start = time.process_time()
    shown = inert.markdown(piece * (200_000 // len(piece)))
    assert time.process_time() - start < 5 and shown.startswith("<pre>")


@pytest.mark.parametrize(
    "content",
    [
        {},
        {"text": None},
        {"data": 7},
        {"data": {"text/plain": {}}},
        {"traceback": "x", "ename": []},
        {"text": "\ud800"},
    ],
)
def test_odd_messages_are_taken(content: dict[str, object]) -> None:
    for kind in ("stream", "display_data", "execute_result", "error", "clear_output", "nonsense"):
        kept = inert.Outputs(100)
        kept.hear(kind, content)
        for node in kept.nodes:
            str(node).encode()


def test_what_the_judge_quotes_is_escaped() -> None:
    part = scored("0.1/size", 0.0, 2.0, "got '<script>alert(1)</script>'", evidence={"expected": "112 GB"})
    learner, graders = page.outputs([part, unscored("0.2", PartStatus.BLOCKED, 1.0, "<b>")], {})
    assert "<script>" not in learner["data"]["text/html"] and "<b></b>" not in learner["data"]["text/html"]
    assert "112 GB" not in str(learner) and "112 GB" in str(graders)
    assert graders["metadata"] == page.GRADERS
    shown = page.file_shown("lab.py", "</pre><script>alert(1)</script>")
    assert "<script>" not in shown["data"]["text/html"]
