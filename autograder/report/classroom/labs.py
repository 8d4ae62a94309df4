"""Labs: what the class's code moved and held, beside what is ideal.

A lab's judge may leave, in the evidence of a part, `figures`: a list of {"what", "ideal", "measured", "unit"}. Those of
the same name and ideal are set side by side over the class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from autograder.report.classroom.data import ClassData

FIGURES = "figures"


@dataclass(frozen=True)
class Row:
    """One figure of one task over the class; numbers as they are shown, with their unit."""

    lab: str
    task: str
    what: str
    ideal: str
    learners: int
    least: str
    median: str
    most: str


def rows(data: ClassData) -> tuple[Row, ...]:
    """The figures of all labs, in the order of course, task and judge."""
    made = []
    for sheet in data.sheets:
        found: dict[tuple[str, str, float, str], list[float]] = {}
        for answers in sheet.answers.values():
            for item, answer in answers.items():
                for what, ideal, measured, unit in _figures(answer.parts[0].evidence):
                    found.setdefault((item, what, ideal, unit), []).append(measured)
        for (item, what, ideal, unit), numbers in found.items():
            shown = [f"{number:,.6g} {unit}" for number in (min(numbers), median(numbers), max(numbers))]
            made.append(
                Row(
                    sheet.assignment.lab or sheet.assignment.name,
                    item,
                    what,
                    f"{ideal:,.6g} {unit}",
                    len(numbers),
                    *shown,
                )
            )
    return tuple(made)


def _figures(evidence: dict[str, Any]) -> Iterator[tuple[str, float, float, str]]:
    for entry in evidence.get(FIGURES, ()):
        yield str(entry["what"]), float(entry["ideal"]), float(entry["measured"]), str(entry["unit"])
