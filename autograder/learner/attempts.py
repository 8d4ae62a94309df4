"""The attempts log beside a notebook: one JSON line a submit. Advisory: it is the learner's own file, and it is for
first-attempt statistics. It never gets in the way: a folder that cannot be written is no error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.learner import values
from autograder.learner.show import Report

NAME = "attempts.jsonl"
SIZE_LIMIT = 1 << 20
"""Bytes after which no more is logged."""
_ANSWER_LIMIT = 500


def log(folder: Path, report: Report, answers: Mapping[str, Any]) -> None:
    """Appends one line: when, exercise, answers as short texts, what was said of each."""
    entry = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "exercise": report.exercise,
        "answers": {name: str(values.value_of(a))[:_ANSWER_LIMIT] for name, a in answers.items()},
        "said": {line.name: line.state for line in report.lines},
    }
    path = folder / NAME
    try:
        if path.exists() and path.stat().st_size > SIZE_LIMIT:
            return
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
    except OSError:
        return
