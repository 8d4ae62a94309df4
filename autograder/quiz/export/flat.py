"""Items as the questions that other systems know: true/false, choice, number, matching, essay.

An item with two tiers becomes two questions, one for each tier; a numeric item one question for each set of its
numbers; an ordering a matching of steps to places. Question ids follow from item ids alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from autograder.item import Item, SpotError
from autograder.judge.budget import number
from autograder.quiz.export.xml import clean
from autograder.quiz.pose import Choice, Posed, Value, all_faces, shown
from autograder.quiz.text import to_html

Kind = Literal["truefalse", "choice", "number", "matching", "essay"]
Maths = Literal["mathml", "tex", "dollars"]


@dataclass(frozen=True)
class Answer:
    """One choice. Texts are Markdown; `code` is set as a line of code."""

    text: str
    right: bool
    feedback: str = ""
    code: bool = False


@dataclass(frozen=True)
class Flat:
    """One question. `text`, `feedback` (general) and the answers are Markdown; `lines` are shown below the text as
    numbered steps, as code where `code` says so.

    number: `value` and `wrong` in `unit`, each right within `tolerance`, absolute. matching: `pairs` of step and place.
    """

    id: str
    item: str
    version: int
    kind: Kind
    text: str
    feedback: str
    tags: tuple[str, ...]
    lines: tuple[str, ...] = ()
    code: bool = False
    answers: tuple[Answer, ...] = ()
    value: Fraction = Fraction(0)
    tolerance: Fraction = Fraction(0)
    unit: str = ""
    wrong: tuple[Value, ...] = ()
    pairs: tuple[tuple[str, str], ...] = ()
    rubric: tuple[str, ...] = ()

    @property
    def right(self) -> int:
        """The place of the right answer."""
        return [answer.right for answer in self.answers].index(True)

    @property
    def relative(self) -> Fraction:
        """The tolerance as a share of the value: wrong values are recognised within the same share."""
        return self.tolerance / abs(self.value) if self.value else Fraction(0)

    def html(self, maths: Maths) -> str:
        """What is asked, as HTML without a line break in it."""
        return body(self, lambda text: inline(text, maths))


def plain_html(text: str) -> str:
    """Text without marks, such as code, as HTML."""
    return clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", "<br>")


def body(flat: Flat, inline_html: Callable[[str], str], code_html: Callable[[str], str] = plain_html) -> str:
    """The question's text and its lines as HTML, texts rendered by `inline_html`, lines of code by `code_html`."""
    made = f"<p>{inline_html(flat.text)}</p>"
    if flat.lines and flat.code:
        rows = (f"{n}  {code_html(line)}" for n, line in enumerate(flat.lines, 1))
        return f"{made}<pre><code>{'<br>'.join(rows)}</code></pre>"
    if flat.lines:
        return made + "<ol>" + "".join(f"<li>{inline_html(line)}</li>" for line in flat.lines) + "</ol>"
    return made


def answer_html(answer: Answer, maths: Maths) -> str:
    """A choice as HTML without a line break in it."""
    return f"<code>{plain_html(answer.text)}</code>" if answer.code else inline(answer.text, maths)


def inline(text: str, maths: Maths) -> str:
    """Markdown as HTML without a line break and without characters that no format can hold."""
    return to_html(clean(text), maths).replace("\n", " ").strip()


def bank(items: Mapping[str, Item]) -> list[Flat]:
    """The questions of all items, in the bank's order."""
    return [flat for posed in all_faces(items) for flat in flatten(posed)]


def flatten(posed: Posed) -> tuple[Flat, ...]:
    """The questions of one item as it is posed."""
    ident = posed.id.replace("#", "_")
    asked = posed.statement.strip() + (f"\n\n*Precision: {posed.regime}.*" if posed.regime else "")

    def made(kind: Kind, suffix: str = "", text: str = asked, **more: object) -> Flat:
        item = posed.item
        named = (f"level-{item.level}", f"topic-{item.topic}", *sorted(item.misconceptions))
        tags = tuple(dict.fromkeys((*item.tags, *named)))
        return Flat(
            f"{ident}{suffix}",
            item.id,
            item.version,
            kind,
            text,
            posed.explanation,
            tags,
            **more,  # type: ignore[arg-type]
        )

    match posed.form:
        case "two-tier":
            claim = tuple(Answer(choice.text, choice.right) for choice in posed.first)
            why = f"{asked}\n\nTrue or false, because …"
            return (
                made("truefalse", "_claim", answers=claim),
                made("choice", "_because", why, answers=_answers(posed.choices)),
            )
        case "spot-the-error":
            code = isinstance(posed.item, SpotError) and posed.item.code
            lines = tuple(choice.text for choice in posed.first)
            steps = tuple(Answer(c.text, c.right, c.feedback, code) for c in posed.first)
            why = f"{asked}\n\nWhat is right, in place of the wrong one?"
            return (
                made("choice", "_step", answers=steps),
                made("choice", "_because", why, lines=lines, code=code, answers=_answers(posed.choices)),
            )
        case "why":
            return (made("choice", answers=_answers(posed.choices)),)
        case "numeric":
            assert posed.value is not None
            value = posed.value.amount
            unit = f"\n\nAnswer in {posed.unit}, as a number." if posed.unit else ""
            return (
                made(
                    "number",
                    text=asked + unit,
                    value=value,
                    tolerance=abs(value) * posed.rel,
                    unit=posed.unit,
                    wrong=posed.wrong,
                ),
            )
        case "ordering":
            pairs = tuple((step, str(place)) for place, step in enumerate(posed.steps, 1))
            mixed = tuple(sorted(pairs, key=lambda pair: posed.order[int(pair[1]) - 1]))
            return (made("matching", pairs=mixed),)
    return (made("essay", rubric=tuple(f"{mark.share:.0%}: {mark.text}" for mark in posed.rubric)),)


def _answers(choices: Iterable[Choice]) -> tuple[Answer, ...]:
    return tuple(Answer(choice.text, choice.right, choice.feedback) for choice in choices)


def decimal(value: Fraction) -> str:
    """A number as decimal text: exact where twelve significant digits hold it, never with an exponent."""
    return number(value, 12)


def printed(value: Fraction) -> str:
    """A number for people."""
    return shown(value)
