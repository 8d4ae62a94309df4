"""`shardlab quiz`: practice in the terminal, a question at a time, with keys, progress and explanations."""

from __future__ import annotations

import sys
import termios
import tty
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.markdown import Markdown
from rich.padding import Padding
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from autograder.content import Course
from autograder.quiz import pose, practice
from autograder.quiz.pose import Posed
from autograder.quiz.practice import Outcome, Session
from autograder.quiz.text import plain

Read = Callable[[str, str], str]
"""Asks for a key out of the second argument, or for a line where that is empty."""
QUIT, SKIP = "Q", "S"


class Leave(Exception):
    """The learner has had enough for now."""


def run(course: Course, topics: Sequence[str], count: int, html: Path | None) -> int:
    """One sitting, or the page written to `html`; returns the exit code. Raises ContentError."""
    console = Console(highlight=False)
    if html is not None:
        from autograder.quiz import page

        written = page.write(course, html, topics)
        console.print(f"{written} questions in {html}: open it in a browser, no network needed")
        return 0
    path = practice.memory_path()
    memory = practice.remembered(path)
    session = Session(course, memory, topics=topics, count=count)
    if session.total == 0:
        console.print(
            "Nothing is due today, and nothing is new. Come back tomorrow, or choose another topic."
        )
        return 0
    try:
        sit(session, console, _reader(console), lambda: practice.remember(memory, path))
    except (Leave, KeyboardInterrupt, EOFError):
        console.print()
    _end(session, console)
    return 0


def sit(session: Session, console: Console, read: Read, keep: Callable[[], None]) -> None:
    """Asks until the session is over; `keep` is called after each answer. Raises Leave."""
    console.print(
        f"[bold]{session.total} questions[/], {len(session.due)} of them back from before. "
        f"Keys: letters answer, [bold]{SKIP}[/] skips, [bold]{QUIT}[/] leaves (capitals)."
    )
    while (posed := session.next()) is not None:
        console.print()
        console.print(_asked(session, posed))
        given = _answer(posed, read)
        if given is None:
            session.skip()
            continue
        outcome = session.answer(posed, given)
        keep()
        console.print(_told(outcome))


def _asked(session: Session, posed: Posed) -> Group:
    done = session.asked
    bar = ProgressBar(total=max(1, done + session.left), completed=done, width=30)
    title = f"{posed.item.topic} · level {posed.item.level} · {posed.item.id}"
    head = Table.grid(padding=(0, 2))
    head.add_row(bar, f"{done} answered, {session.right} right, {session.left} to come")
    return Group(
        head, Panel(_markdown(pose.markdown(posed)), title=title, title_align="left", padding=(1, 2))
    )


def _answer(posed: Posed, read: Read) -> dict[str, Any] | None:
    """What the learner answers, None to skip."""
    letters = "".join(choice.letter for choice in posed.choices)
    given: dict[str, Any] = {}
    try:
        match posed.form:
            case "two-tier":
                given["claim"] = _one(read, "True or false (t/f)?", "tf")
            case "spot-the-error":
                numbers = "".join(choice.letter for choice in posed.first)
                given["step"] = int(_one(read, f"Which one is wrong (1-{len(numbers)})?", numbers))
            case "numeric":
                given["value"] = _line(read, f"How much{f' (in {posed.unit})' if posed.unit else ''}?")
            case "ordering":
                given["order"] = _line(read, "In which order (such as: c a b)?")
        if letters:
            given["because"] = _one(read, f"Because ({letters[0]}-{letters[-1]})?", letters)
    except _Skipped:
        return None
    return given


class _Skipped(Exception):
    pass


def _one(read: Read, question: str, keys: str) -> str:
    while True:
        key = read(question, keys + QUIT + SKIP).strip()
        _leaving(key)
        if key and key.lower() in keys:
            return key.lower()


def _line(read: Read, question: str) -> str:
    while True:
        line = read(question, "").strip()
        _leaving(line)
        if line:
            return line


def _leaving(given: str) -> None:
    if given == QUIT:
        raise Leave
    if given == SKIP:
        raise _Skipped


def _told(outcome: Outcome) -> Padding:
    lines: list[Any] = []
    for part in outcome.parts:
        sign, style = ("✓", "green") if part.fraction == 1 else ("✗", "red")
        word = (
            "right" if part.fraction == 1 else f"{part.fraction:.0%} right" if part.fraction else "not right"
        )
        lines.append(Text.assemble((f"{sign} {part.part}: {word}. ", style), plain(part.text)))
    if not outcome.right:
        lines.append(Text("It comes back later.", style="dim"))
    lines.append(Text.assemble(("Why: ", "bold"), plain(outcome.explanation)))
    return Padding(Group(*lines), (0, 2))


def _end(session: Session, console: Console) -> None:
    if session.asked:
        console.print(
            f"[bold]{session.right} of {session.asked} right.[/] What you missed comes back first next time."
        )


def _markdown(text: str) -> Markdown:
    """Markdown for the terminal, maths as LaTeX without its dollars' backslashes taken for marks."""
    return Markdown(text.replace("\\", "\\\\"))


def _key() -> str:
    """One key of the terminal. Raises KeyboardInterrupt for Ctrl-C, EOFError for Ctrl-D."""
    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    try:
        tty.setcbreak(number)
        key = sys.stdin.read(1)
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)
    if key in ("", "\x04"):
        raise EOFError
    return key


def _reader(console: Console) -> Read:
    def read(question: str, keys: str) -> str:
        console.print(f"[bold]{question}[/] ", end="")
        if keys and sys.stdin.isatty():
            key = _key()
            console.print(key if key.isprintable() else "")
            return key
        line = sys.stdin.readline()
        if not line:
            raise Leave
        return line

    return read
