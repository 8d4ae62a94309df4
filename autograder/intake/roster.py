"""An instructor's list of learners: from what a platform calls them to the ids of the course."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.intake.names import is_student
from autograder.tomlfile import ContentError

COLUMNS = ("id", "lms", "email", "name")


class Unknown(ValueError):
    """The roster does not say who this is; the message says why."""


@dataclass(frozen=True)
class Roster:
    """`by` maps every way to name a learner to the ids that are named so."""

    path: Path
    by: dict[str, frozenset[str]]

    def find(self, learner: str, name: str) -> str:
        """The id of the learner with this number and name on the platform. Raises Unknown."""
        for key in (f"lms:{learner}", f"email:{name.casefold()}", f"name:{_squashed(name)}"):
            ids = self.by.get(key)
            if ids is not None and len(ids) == 1:
                return next(iter(ids))
            if ids is not None:
                raise Unknown(f"{self.path.name} names {len(ids)} learners so: {', '.join(sorted(ids))}")
        raise Unknown(f"not in {self.path.name}: add a line with the column lms = {learner}")


def read(path: Path) -> Roster:
    """The roster in a CSV file with the columns `id` (ours), and `lms` (the platform's number), `email` or `name`.
    Raises ContentError with the line that is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ContentError(f"{path}: cannot be read as UTF-8 text: {error}") from None
    rows = csv.DictReader(io.StringIO(text, newline=""))
    fields = [(name or "").strip().lower() for name in rows.fieldnames or ()]
    if "id" not in fields or not set(fields) & set(COLUMNS[1:]):
        raise ContentError(
            f"{path}:1: needs a column id, and one of lms, email, name; has {', '.join(fields)}"
        )
    rows.fieldnames = fields
    by: dict[str, set[str]] = {}
    for row in rows:
        student = (row.get("id") or "").strip()
        if not is_student(student):
            raise ContentError(f"{path}:{rows.line_num}: id: {student!r} cannot be the name of a folder")
        for key in _keys(row):
            by.setdefault(key, set()).add(student)
    return Roster(path, {key: frozenset(ids) for key, ids in by.items()})


def _keys(row: dict[str, str]) -> Iterator[str]:
    cells = {name: (row.get(name) or "").strip() for name in COLUMNS}
    if cells["lms"]:
        yield f"lms:{cells['lms']}"
    if cells["email"]:
        yield f"email:{cells['email'].casefold()}"
    if cells["name"]:
        words = cells["name"].replace(",", " ").split()
        # One platform writes the last name first.
        for order in (words, words[-1:] + words[:-1], words[1:] + words[:1]):
            yield f"name:{_squashed(' '.join(order))}"


def _squashed(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\W_]+", "", folded)
