"""The class at a glance: learner × assignment, score and status."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from rich.table import Table
from rich.text import Text

from autograder.verdict import PartStatus, Status, Verdict

_STYLE = {
    Status.GRADED: "",
    Status.UNGRADABLE: "yellow",
    Status.REJECTED: "yellow",
    Status.ABSENT: "dim",
    Status.BLOCKED: "bold red",
}


def cell(verdict: Verdict | None) -> str:
    """One cell: `7/10`, with the status where it is not plainly graded: `4+?/10 pending`, `– ungradable`."""
    if verdict is None:
        return "absent"
    if verdict.status is not Status.GRADED:
        return str(verdict.status)
    if verdict.score is not None:
        return f"{verdict.score:.4g}/{verdict.max_score:.4g}"
    so_far = sum(part.score for part in verdict.parts if part.score is not None)
    waits = "blocked" if any(p.status is PartStatus.BLOCKED for p in verdict.parts) else "pending"
    return f"{so_far:.4g}+?/{verdict.max_score:.4g} {waits}"


def trouble(verdict: Verdict | None) -> str:
    """The statuses of parts that were neither right nor simply wrong: `1 crashed, 2 timeout`."""
    plain = (PartStatus.PASSED, PartStatus.PARTIAL, PartStatus.FAILED, PartStatus.PENDING)
    odd = [part.status for part in verdict.parts if part.status not in plain] if verdict else []
    return ", ".join(f"{odd.count(status)} {status}" for status in PartStatus if status in odd)


def rich_table(
    title: str, students: Sequence[str], assignments: Sequence[str], verdicts: Iterable[Verdict]
) -> Table:
    """The table as shown in a terminal."""
    by_key = {(v.student, v.assignment): v for v in verdicts}
    table = Table(
        title=title, title_justify="left", title_style="bold", header_style="bold", min_width=len(title)
    )
    table.add_column("learner")
    for name in assignments:
        table.add_column(name)
    for student in students:
        row: list[Text] = [Text(student)]
        for name in assignments:
            verdict = by_key.get((student, name))
            shown = Text(cell(verdict), style=_STYLE[verdict.status if verdict else Status.ABSENT])
            if odd := trouble(verdict):
                shown.append(f"\n{odd}", style="dim")
            row.append(shown)
        table.add_row(*row)
    return table


def text(students: Sequence[str], assignments: Sequence[str], verdicts: Iterable[Verdict]) -> str:
    """The same table as CSV: one line a learner and assignment, what golden files and scripts compare.

    Columns: learner, assignment, status, score, max_score, trouble (see `trouble`), misconceptions (ids, sorted).
    """
    by_key = {(v.student, v.assignment): v for v in verdicts}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["learner", "assignment", "status", "score", "max_score", "trouble", "misconceptions"])
    for student in students:
        for name in assignments:
            verdict = by_key.get((student, name))
            if verdict is None:
                writer.writerow([student, name, str(Status.ABSENT), "", "", "", ""])
                continue
            score = "" if verdict.score is None else f"{verdict.score:.6g}"
            named = sorted({part.misconception for part in verdict.parts if part.misconception})
            writer.writerow(
                [
                    student,
                    name,
                    str(verdict.status),
                    score,
                    f"{verdict.max_score:.6g}",
                    trouble(verdict),
                    " ".join(named),
                ]
            )
    return out.getvalue()
