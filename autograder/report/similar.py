"""`shardlab similar`: which hand-ins share more code than the task explains.

Tokens are compared, not characters: names and comments do not count (copydetect, the winnowing of Schleimer, Wilkerson
and Aiken, SIGMOD 2003). What the course itself released is taken out beforehand. It is a list of pairs to look at, and
no verdict.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from copydetect.detector import CodeFingerprint, compare_files
from rich.console import Console
from rich.table import Table

from autograder.build.attempts import attempts
from autograder.content import Assignment, Course
from autograder.engine import handins
from autograder.handin import code
from autograder.tomlfile import ContentError

NOISE, WINDOW = 25, 1
"""Fewer than so many characters in a row, of filtered code, are no match; of each WINDOW hashes one is kept."""
FEWEST = 200
"""Characters of filtered code below which an answer is too short to tell anything by."""


@dataclass(frozen=True)
class Pair:
    """Two texts. `share` is how much of the shorter one's own code stands in the other, between 0 and 1."""

    assignment: str
    first: str
    second: str
    share: float


def run(course: Course, assignment: str, at_least: float) -> int:
    """Prints the pairs of the course's hand-ins, most alike first. Raises ContentError where nothing is handed in."""
    found = handins.find(course, course.root / "submitted", assignment=assignment)
    by_assignment: dict[str, dict[str, Path]] = {}
    for hand_in in found.hand_ins:
        by_assignment.setdefault(hand_in.assignment.name, {})[hand_in.student] = hand_in.folder
    if not by_assignment:
        raise ContentError(
            f"{course.root / 'submitted'}: nothing is handed in {'for ' + assignment if assignment else ''}"
        )
    console = Console(highlight=False)
    table = Table("assignment", "one", "other", "alike", title="pairs to look at", title_justify="left")
    for name, folders in by_assignment.items():
        for pair in pairs(course, course.assignment(name), folders, at_least):
            table.add_row(pair.assignment, pair.first, pair.second, f"{100 * pair.share:.0f}%")
    if table.row_count:
        console.print(table)
        console.print("Alike says how much of the shorter one's own code stands in the other, names aside.")
    else:
        console.print(f"no two hand-ins are alike by {100 * at_least:.0f}% or more")
    return 0


def pairs(course: Course, assignment: Assignment, folders: Mapping[str, Path], at_least: float) -> list[Pair]:
    """Pairs of learners, and of a learner and the reference or an attempt, that are alike by `at_least` (0 to 1)."""

    def fingerprint(name: str, text: str, known: Any = None) -> CodeFingerprint:
        return CodeFingerprint(f"{name}.py", NOISE, WINDOW, boilerplate=known, fp=io.StringIO(text))

    released = np.array(
        sorted(fingerprint("released", code.own(assignment, solved=False)).hashes), dtype=np.int64
    )
    learners = {learner: code.of(folder, assignment) for learner, folder in folders.items()}
    ours = {"(reference)": code.own(assignment, solved=True)}
    if assignment.lab is not None:
        lab = course.labs[assignment.lab]
        ours |= {f"(attempt {path.stem})": path.read_text(encoding="utf-8") for path in attempts(lab)}
    prints = {
        name: fingerprint(name, text, released) for name, text in {**learners, **ours}.items() if text.strip()
    }
    told = {
        name for name, one in prints.items() if len(one.filtered_code) >= FEWEST and one.token_coverage > 0
    }
    found = []
    for first, second in itertools.combinations([name for name in prints if name in told], 2):
        if first not in learners:
            continue
        _, shares, _ = compare_files(prints[first], prints[second])  # type: ignore[no-untyped-call, unused-ignore]
        share = float(max(shares))
        if share >= at_least:
            found.append(Pair(assignment.name, first, second, min(share, 1.0)))
    return sorted(found, key=lambda pair: (-pair.share, pair.first, pair.second))
