"""Which hand-ins are alike: a copy with other names and comments is, two solutions of their own are not."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from autograder.content import Course
from autograder.report import similar
from autograder.tomlfile import ContentError

LAB = "lab-ring_collectives"


def _hand_in(root: Path, learner: str, text: str) -> Path:
    folder = root / learner / LAB
    folder.mkdir(parents=True)
    (folder / "lab.py").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def folders(course: Course, tmp_path: Path) -> dict[str, Path]:
    solution = course.labs["ring_collectives"].solution
    own = (solution / "attempts/right_both_ways.py").read_text(encoding="utf-8")
    disguised = re.sub(r"\bsize\b", "n_ranks", own)
    disguised = re.sub(r"\bgives\b", "outgoing", disguised)
    disguised = re.sub(r"^def ", "# my own idea\ndef ", disguised, flags=re.MULTILINE)
    released = (course.assignment(LAB).release / "lab.py").read_text(encoding="utf-8")
    return {
        "ada": _hand_in(tmp_path, "ada", own),
        "ben": _hand_in(tmp_path, "ben", disguised),
        "chloe": _hand_in(
            tmp_path, "chloe", (solution / "attempts/right_waits_in_any_order.py").read_text(encoding="utf-8")
        ),
        "dmitri": _hand_in(tmp_path, "dmitri", released),
        "emma": _hand_in(tmp_path, "emma", released),
        "farid": _hand_in(tmp_path, "farid", "def (:\n" * 50),
        "grace": _hand_in(tmp_path, "grace", ""),
    }


def test_a_disguised_copy_is_found_and_the_released_code_is_nobodys(
    course: Course, folders: dict[str, Path]
) -> None:
    found = similar.pairs(course, course.assignment(LAB), folders, 0.8)
    among = {(pair.first, pair.second): pair.share for pair in found}
    assert among[("ada", "ben")] > 0.9
    assert among[("ada", "(attempt right_both_ways)")] > 0.99
    assert ("ada", "chloe") not in among, "two ways of one's own"
    assert not [pair for pair in among if "dmitri" in pair or "emma" in pair], "what was released is no copy"


def test_pairs_are_listed_most_alike_first_and_the_course_is_not_compared_with_itself(
    course: Course, folders: dict[str, Path]
) -> None:
    found = similar.pairs(course, course.assignment(LAB), folders, 0.0)
    shares = [pair.share for pair in found]
    assert shares == sorted(shares, reverse=True)
    assert not [pair for pair in found if pair.first.startswith("(")]


def test_notebooks_are_compared_by_their_answers(course: Course, tmp_path: Path) -> None:
    level = course.assignment("level-1")
    folders = {}
    for learner in ("ada", "ben"):
        folders[learner] = tmp_path / learner
        folders[learner].mkdir()
        shutil.copyfile(level.notebook, folders[learner] / "level-1.ipynb")
    folders["empty"] = tmp_path
    found = {(p.first, p.second): p.share for p in similar.pairs(course, level, folders, 0.9)}
    assert found[("ada", "ben")] > 0.99
    assert found[("ada", "(reference)")] > 0.99


def test_nothing_handed_in_is_said(course: Course) -> None:
    with pytest.raises(ContentError, match="nothing is handed in for level-2"):
        similar.run(course, "level-2", 0.5)
