"""Practice in the terminal: what comes next, what is remembered, and what is said."""

from __future__ import annotations

import datetime
import io
import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from autograder.build.quiz import right_answer
from autograder.content import Course
from autograder.quiz import practice
from autograder.quiz.pose import Posed, pose
from autograder.quiz.practice import Memory, Seen, Session
from autograder.report import quizzing
from autograder.tomlfile import ContentError

TODAY = datetime.date(2026, 12, 1)


def _right(posed: Posed) -> dict[str, object]:
    return {name: eval(text, {"__builtins__": {}}) for name, text in right_answer(posed).items()}


def _session(course: Course, memory: Memory, count: int = 5, days: int = 0, topic: str = "") -> Session:
    today = TODAY + datetime.timedelta(days=days)
    return Session(course, memory, topics=[topic] if topic else [], count=count, today=today)


def _play(session: Session, wrong: frozenset[str] = frozenset()) -> list[str]:
    """Answers all rightly but the first try at those in `wrong`; the items in the order they came."""
    seen: list[str] = []
    while (posed := session.next()) is not None:
        first = posed.item.id not in seen
        seen.append(posed.item.id)
        given = {} if posed.item.id in wrong and first else _right(posed)
        assert session.answer(posed, given).right == bool(given)
    return seen


def test_a_miss_comes_back_in_the_same_session_and_tomorrow(course: Course) -> None:
    memory = Memory()
    ids = _play(_session(course, memory))
    assert len(ids) == len(set(ids)) == 5
    memory = Memory()
    again = _play(_session(course, memory), frozenset({ids[0]}))
    assert again == [ids[0], *ids[1:4], ids[0], ids[4]]
    missed, known = memory.items[ids[0]], memory.items[ids[1]]
    assert (missed.wrong, missed.right, missed.box) == (1, 1, 1)
    assert (known.wrong, known.right, known.box) == (0, 1, 1)
    assert missed.due == TODAY + datetime.timedelta(days=1)


def test_what_is_known_comes_back_later_and_later(course: Course) -> None:
    memory = Memory()
    day, gaps = 0, []
    (ident,) = _play(_session(course, memory, 1))
    for _ in range(6):
        due = memory.items[ident].due
        gaps.append((due - TODAY).days - day)
        day = (due - TODAY).days
        assert _session(course, memory, 1, days=day - 1).due == []
        assert _play(_session(course, memory, 1, days=day)) == [ident]
    assert gaps == [1, 3, 7, 16, 35, 35]


def test_due_questions_come_before_new_ones(course: Course) -> None:
    memory = Memory(items={"q150": Seen(version=1, box=2, due=TODAY), "q151": Seen(version=1, due=TODAY)})
    session = _session(course, memory, 3)
    assert session.due == ["q150", "q151"]
    assert _play(session)[:2] == ["q150", "q151"]


def test_a_new_version_is_due_at_once(course: Course) -> None:
    later = TODAY + datetime.timedelta(days=30)
    memory = Memory(items={"q001": Seen(version=0, box=5, due=later)})
    session = _session(course, memory, 1)
    assert _play(session) == ["q001"] and memory.items["q001"].version == course.items["q001"].version
    assert memory.items["q001"].box == 1


def test_a_topic_holds_its_own_items_and_no_essay(course: Course) -> None:
    ids = _play(_session(course, Memory(), 500, topic="parallelism"))
    assert {course.items[ident].topic for ident in ids} == {"parallelism"}
    assert "essay" not in {course.items[ident].form for ident in ids}
    with pytest.raises(ContentError, match="there are activations"):
        _session(course, Memory(), topic="no-such")


@settings(max_examples=25, deadline=None)
@given(wrong=st.sets(st.integers(0, 7)))
def test_every_question_is_answered_rightly_in_the_end(course: Course, wrong: set[int]) -> None:
    ids = _play(_session(course, Memory(), 8))
    memory = Memory()
    session = _session(course, memory, 8)
    again = _play(session, frozenset(ids[n] for n in wrong))
    assert sorted(set(again)) == sorted(ids) and len(again) == 8 + len(wrong) == session.asked
    assert session.right == 8 and session.left == 0
    assert {ident for ident, seen in memory.items.items() if seen.wrong} == {ids[n] for n in wrong}


def test_every_form_is_judged_and_explained(course: Course) -> None:
    forms = set()
    for item in course.items.values():
        if item.form == "essay":
            continue
        posed = pose(item)
        forms.add(item.form)
        outcome = practice.judge(course, posed, _right(posed))
        assert outcome.right and outcome.explanation == posed.explanation
        assert not practice.judge(course, posed, {}).right
    assert len(forms) == 5


def test_memory_is_kept_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep/practice.json"
    memory = Memory(items={"q001": Seen(version=1, box=3, due=TODAY, right=2, wrong=1)})
    practice.remember(memory, path)
    assert practice.remembered(path) == memory
    assert [p.name for p in path.parent.iterdir()] == ["practice.json"]
    path.write_text("{")
    with pytest.raises(ContentError, match="move it away"):
        practice.remembered(path)
    assert practice.remembered(tmp_path / "none.json") == Memory()


def test_what_is_shown_and_told(course: Course) -> None:
    session = _session(course, Memory(), 2, topic="sharding-basics")
    keys = iter(["x", "f", "a", "t", "b", quizzing.QUIT])
    out = io.StringIO()
    with pytest.raises(quizzing.Leave):
        quizzing.sit(session, Console(file=out, width=100), lambda question, keys_: next(keys), lambda: None)
    said = out.getvalue()
    assert "✗ claim: not right" in said and "It comes back later" in said
    assert "“Sharding only moves memory around" in said and "Why:" in said
    assert "1 answered, 0 right" in said and session.asked == 2


def test_in_a_terminal_by_single_keys(root: Path, tmp_path: Path) -> None:
    """A real pseudo-terminal: one key is one answer, no Enter."""
    lead, follow = pty.openpty()
    environment = {**os.environ, "SHARDLAB_DATA": str(tmp_path), "TERM": "xterm", "COLUMNS": "100"}
    command = [sys.executable, "-m", "autograder.cli", "quiz", "sharding-basics", "--count", "2"]
    code = "from autograder.cli import main; main()"
    command = [sys.executable, "-c", code, "quiz", "sharding-basics", "--count", "2"]
    with subprocess.Popen(
        command, stdin=follow, stdout=follow, stderr=follow, cwd=root, env=environment
    ) as ran:
        os.close(follow)
        seen = _until(lead, "(t/f)?")
        os.write(lead, b"t")
        seen = _until(lead, "Because (a-d)?")
        os.write(lead, b"b")
        seen = _until(lead, "(t/f)?")
        assert "✓ because: right" in seen
        os.write(lead, b"Q")
        seen = _until(lead, "1 of 1 right")
        assert ran.wait(timeout=60) == 0
    os.close(lead)
    assert json.loads((tmp_path / "practice.json").read_text())["items"]["q001"]["right"] == 1


def _until(lead: int, text: str) -> str:
    seen, ends = b"", time.monotonic() + 90
    while text not in seen.decode(errors="replace"):
        assert time.monotonic() < ends, seen.decode(errors="replace")[-2000:]
        if select.select([lead], [], [], 1)[0]:
            seen += os.read(lead, 65536)
    return seen.decode(errors="replace")


def test_the_command_line_says_what_is_wrong(root: Path, tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", "from autograder.cli import main; main()", "quiz", "no-such"],
        cwd=root, capture_output=True, text=True, check=False, env={**os.environ, "SHARDLAB_DATA": str(tmp_path)},
    )  # fmt: skip
    assert ran.returncode == 2 and "no topic no-such" in ran.stderr
