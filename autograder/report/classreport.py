"""`shardlab report`: writes the class report and says where it lies and what to teach next."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from autograder import durable
from autograder.content import Course
from autograder.engine import handins
from autograder.intake.names import is_student
from autograder.report.classroom import beliefs, data, firsts, page
from autograder.tomlfile import ContentError

NAME = "class-report.html"


def run(course: Course, results: Path | None, out: Path | None, groups: Path | None) -> int:
    """Writes the report on the verdicts below `results` (default: the course's) to `out` (default: beside them).
    Raises ContentError where there are none, and for a list of groups that cannot be read.
    """
    where = (results or course.root / "results").resolve()
    named = read_groups(groups) if groups else {}
    found = handins.find(course, course.root / "submitted")
    klass = data.read(course, where, {*found.students, *named})
    logs: dict[str, dict[str, dict[str, firsts.First]]] = {}
    for hand_in in found.hand_ins:
        logs.setdefault(hand_in.assignment.name, {})[hand_in.student] = firsts.read(hand_in.folder)
    path = (out or where / NAME).resolve()
    text = page.page(klass, logs, named, _newest(where))
    try:
        durable.write(path, text.encode())
    except OSError as error:
        raise ContentError(f"{path}: cannot be written: {error.strerror}") from error
    console = Console(highlight=False)
    console.print(f"report  {escape(str(path))}", soft_wrap=True)
    for belief in beliefs.shown(klass, beliefs.groups(klass, named))[:1]:
        told = f"{belief.name} ({len(belief.learners)} of {len(belief.asked)} learners)"
        console.print(f"teach next: {escape(told)}", soft_wrap=True)
    return 0


def read_groups(path: Path) -> dict[str, str]:
    """Learner → group, from a CSV file with the columns `id` and `group`. Raises ContentError with the line."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ContentError(f"{path}: cannot be read as UTF-8 text: {error}") from None
    rows = csv.DictReader(io.StringIO(text, newline=""))
    fields = [(name or "").strip().lower() for name in rows.fieldnames or ()]
    if not {"id", "group"} <= set(fields):
        raise ContentError(f"{path}:1: needs the columns id and group; has {', '.join(fields)}")
    rows.fieldnames = fields
    named: dict[str, str] = {}
    for row in rows:
        learner, group = (row.get("id") or "").strip(), (row.get("group") or "").strip()
        if not is_student(learner):
            raise ContentError(f"{path}:{rows.line_num}: id: {learner!r} cannot be a learner's")
        if not group:
            raise ContentError(
                f"{path}:{rows.line_num}: group: {learner} has none; write one, or leave out the line"
            )
        named[learner] = group
    return named


def _newest(results: Path) -> datetime:
    times = [path.stat().st_mtime for path in results.glob("*/*.json")]
    return datetime.fromtimestamp(max(times), UTC)
