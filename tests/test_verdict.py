"""The verdict: what may not be said in it, and that a reader never meets half of one."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import verdict as verdicts
from autograder.verdict import UNSCORED, Part, PartStatus, Status, Verdict, scored, total, unscored


def _verdict(*parts: Part, status: Status = Status.GRADED) -> Verdict:
    score = total(parts) if status is Status.GRADED else None
    return Verdict(
        student="ada", assignment="level-1", status=status, score=score, max_score=10.0, parts=parts
    )


@given(st.floats(0, 1), st.floats(0.01, 100))
def test_a_scored_part_lies_between_zero_and_its_points(fraction: float, points: float) -> None:
    part = scored("2.1/dp", fraction, points, "")
    assert part.score is not None and 0 <= part.score <= points
    assert (part.status is PartStatus.PASSED) == (part.score == points)


@pytest.mark.parametrize("status", sorted(set(PartStatus) - {PartStatus.PASSED, PartStatus.PARTIAL}))
def test_a_status_without_an_answer_earns_nothing_or_waits(status: PartStatus) -> None:
    part = unscored("2.1/dp", status, 2.0, "why")
    assert part.score == (None if status in UNSCORED else 0.0)


@pytest.mark.parametrize(
    ("status", "score"),
    [
        (PartStatus.BLOCKED, 0.0),
        (PartStatus.PENDING, 1.0),
        (PartStatus.FAILED, None),
        (PartStatus.CRASHED, 1.0),
        (PartStatus.PASSED, 1.0),
        (PartStatus.PARTIAL, 3.0),
        (PartStatus.PARTIAL, -1.0),
        (PartStatus.PARTIAL, math.nan),
        (PartStatus.PARTIAL, math.inf),
    ],
)
def test_a_part_that_contradicts_itself_is_refused(status: PartStatus, score: float | None) -> None:
    with pytest.raises(ValueError, match=r"2\.1/dp"):
        Part(id="2.1/dp", status=status, score=score, max_score=2.0)


def test_a_pending_part_leaves_the_score_open() -> None:
    made = _verdict(scored("1.1", 1, 2, ""), unscored("1.4", PartStatus.PENDING, 3, "hand-graded"))
    assert made.score is None


def test_the_score_is_the_sum_of_the_parts() -> None:
    with pytest.raises(ValueError, match="not the sum"):
        Verdict(
            student="ada",
            assignment="level-1",
            status=Status.GRADED,
            score=9.0,
            max_score=10.0,
            parts=(scored("1.1", 1, 2, ""),),
        )


def test_an_ungradable_hand_in_carries_no_score() -> None:
    with pytest.raises(ValueError, match="ungradable"):
        Verdict(student="a", assignment="b", status=Status.UNGRADABLE, score=0.0, max_score=1.0)


def test_written_and_read_again(tmp_path: Path) -> None:
    made = _verdict(
        scored("2.1/dp", 0.5, 2.0, "half of it", misconception="gib-for-gb", evidence={"given": [1, "x"]})
    )
    path = verdicts.write(made, tmp_path)
    assert path == tmp_path / "ada" / "level-1.json"
    assert verdicts.read(path) == made
    assert json.loads(path.read_text())["parts"][0]["status"] == "partial"
    assert list(path.parent.iterdir()) == [path], "a temporary file was left"


def test_a_failed_write_leaves_the_old_verdict_whole(tmp_path: Path) -> None:
    old = verdicts.write(_verdict(scored("1.1", 1, 2, "")), tmp_path).read_bytes()
    bad = _verdict(scored("1.1", 1, 2, "", evidence={"a": object()}))
    with pytest.raises(TypeError):
        verdicts.write(bad, tmp_path)
    assert [p.read_bytes() for p in (tmp_path / "ada").iterdir()] == [old]


def test_what_is_no_verdict_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"schema": 1, "student": "a", "surprise": 1}')
    with pytest.raises(ValueError, match=r"x\.json: not a verdict"):
        verdicts.read(path)
