"""GIFT: Moodle's text format. Backslash first: `\\ # = ~ { } :` are escaped; no blank line stands in a question.

Which question is which is told in a comment above it, `[id:…]` and `[tag:…]`, as Moodle reads it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from autograder.quiz.export.flat import Answer, Flat, answer_html, decimal, inline

SUFFIX = "gift"


def export(questions: Sequence[Flat], title: str) -> bytes:
    """All questions as one GIFT file in the category `title`."""
    head = f"$CATEGORY: {' '.join(title.split())}\n"
    return "\n".join([head, *(_question(flat) for flat in questions)]).encode()


def cannot(flat: Flat) -> str:
    """Why GIFT cannot hold a question, "" where it can."""
    return ""


def escape(text: str) -> str:
    """HTML with GIFT's control characters escaped and without line breaks. A text that begins as a weight (%50%) or a
    format ([html]) would be taken for one, so its first character becomes a character reference.
    """
    if text[:1] in "%[" and text:
        text = f"&#{ord(text[0])};{text[1:]}"
    return re.sub(r"[~=#{}:]", r"\\\g<0>", text.replace("\\", "\\\\")).replace("\n", " ")


def _question(flat: Flat) -> str:
    tags = "".join(f" [tag:{tag}]" for tag in (flat.item, *flat.tags))
    head = f"// [id:{flat.id}]{tags}\n::{escape(flat.id)}::[html]{escape(flat.html('tex'))}"
    return f"{head} {{{_answers(flat)}}}\n"


def _answers(flat: Flat) -> str:
    general = f"####{escape(inline(flat.feedback, 'tex'))}" if flat.feedback.strip() else ""
    match flat.kind:
        case "truefalse":
            return ("TRUE" if flat.answers[flat.right].text == "True" else "FALSE") + general
        case "choice":
            return "\n" + "\n".join(_choice(answer) for answer in flat.answers) + f"\n{general}"
        case "number":
            right = f"={decimal(flat.value)}:{decimal(flat.tolerance)}"
            wrong = "".join(
                f"\n=%0%{decimal(each.amount)}:{decimal(abs(each.amount) * flat.relative)}"
                f"#{escape(inline(each.feedback, 'tex'))}"
                for each in flat.wrong
            )
            return f"#\n{right}{wrong}\n{general}"
        case "matching":
            pairs = "\n".join(f"={escape(inline(step, 'tex'))} -> {place}" for step, place in flat.pairs)
            return f"\n{pairs}\n{general}"
    return general


def _choice(answer: Answer) -> str:
    feedback = f"#{escape(inline(answer.feedback, 'tex'))}" if answer.feedback.strip() else ""
    return f"{'=' if answer.right else '~'}{escape(answer_html(answer, 'tex'))}{feedback}"
