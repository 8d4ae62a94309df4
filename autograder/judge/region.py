"""Hidden-test regions of check cells: what the judge reads from the course's own source, and no kernel ever sees."""

from __future__ import annotations

import re

BEGIN = "BEGIN HIDDEN TESTS"
END = "END HIDDEN TESTS"
_SUBMIT = re.compile(r'^submit\(\s*"([^"]+)"', re.MULTILINE)


def split(source: str) -> tuple[str, str]:
    """A cell's text without its regions, and the text of the regions. nbgrader's rule: any line that holds the
    words begins or ends one. A region without an end runs to the end of the cell.
    """
    shown: list[str] = []
    hidden: list[str] = []
    inside = False
    for line in source.split("\n"):
        if BEGIN in line:
            inside = True
        elif END in line:
            inside = False
        else:
            (hidden if inside else shown).append(line)
    return "\n".join(shown), "\n".join(hidden)


def exercise_of(source: str) -> str | None:
    """The exercise a check cell submits (`submit("2.1", …)` → `2.1`), None where it submits nothing."""
    match = _SUBMIT.search(source)
    return match.group(1) if match else None
