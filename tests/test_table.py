"""The class table: what a status looks like, and what golden files compare."""

from __future__ import annotations

from autograder.report import table
from autograder.verdict import PartStatus, Status, Verdict, scored, total, unscored


def _verdict(*parts: object, **more: object) -> Verdict:
    given = {"student": "ada", "assignment": "level-1", "status": Status.GRADED, "max_score": 6.0, **more}
    score = total(parts) if given["status"] is Status.GRADED else None  # type: ignore[arg-type]
    return Verdict(**given, score=score, parts=parts)  # type: ignore[arg-type]


def test_cells() -> None:
    assert table.cell(None) == "absent"
    assert table.cell(_verdict(scored("1", 0.5, 3, ""), scored("2", 1, 3, ""))) == "4.5/6"
    assert (
        table.cell(_verdict(scored("1", 1, 3, ""), unscored("2", PartStatus.PENDING, 3, "")))
        == "3+?/6 pending"
    )
    assert table.cell(_verdict(unscored("2", PartStatus.BLOCKED, 3, ""))) == "0+?/6 blocked"
    assert table.cell(_verdict(status=Status.UNGRADABLE)) == "ungradable"


def test_trouble_counts_what_is_neither_right_nor_simply_wrong() -> None:
    odd = [PartStatus.TIMEOUT, PartStatus.CRASHED, PartStatus.TIMEOUT]
    made = _verdict(scored("1", 0, 1, ""), *(unscored("x", status, 1, "") for status in odd))
    assert table.trouble(made) == "1 crashed, 2 timeout"


def test_the_text_names_status_score_and_misconceptions() -> None:
    made = _verdict(
        scored("1", 0, 3, "", misconception="gib-for-gb"),
        scored("2", 0, 3, "", misconception="adam-state-is-16-bytes"),
    )
    assert table.text(["ada", "ben"], ["level-1"], [made]).splitlines() == [
        "learner,assignment,status,score,max_score,trouble,misconceptions",
        "ada,level-1,graded,0,6,,adam-state-is-16-bytes gib-for-gb",
        "ben,level-1,absent,,,,",
    ]
