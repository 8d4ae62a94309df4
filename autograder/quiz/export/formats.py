"""The formats there are, by name, and the one way to write a bank in one of them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from autograder.content import Course
from autograder.quiz.export import anki, gift, jupyterquiz, moodle, qti12, qti21
from autograder.quiz.export.flat import Flat, bank
from autograder.tomlfile import ContentError

FORMATS: dict[str, ModuleType] = {
    "moodle": moodle,
    "gift": gift,
    "qti12": qti12,
    "qti21": qti21,
    "jupyterquiz": jupyterquiz,
    "anki": anki,
}


@dataclass(frozen=True)
class Exported:
    """What an export made: the file, how many questions it holds, and those it cannot hold with the reason."""

    path: Path
    held: int
    left_out: tuple[tuple[str, str], ...]


def export(course: Course, form: str, out: Path | None = None, topics: Sequence[str] = ()) -> Exported:
    """Writes the practice items of `topics` (empty: all) in a format, whole or not at all. `out` is the file (default:
    shardlab-quiz with the format's suffix, in the working folder). Raises ContentError.
    """
    if form not in FORMATS:
        raise ContentError(f"no format {form!r}; there are {', '.join(FORMATS)}")
    known = {item.topic for item in course.items.values()}
    for topic in topics:
        if topic not in known:
            raise ContentError(f"no topic {topic!r}; there are {', '.join(sorted(known))}")
    items = {
        name: item
        for name, item in course.items.items()
        if item.use == "practice" and (not topics or item.topic in topics)
    }
    if not items:
        raise ContentError("the bank holds no practice item to export")
    module = FORMATS[form]
    questions = bank(items)
    left_out = tuple((flat.id, why) for flat in questions if (why := module.cannot(flat)))
    held: list[Flat] = [flat for flat in questions if not module.cannot(flat)]
    path = out or Path(f"shardlab-quiz.{module.SUFFIX}")
    content: bytes = module.export(held, course.title)
    _write(path, content)
    return Exported(path, len(held), left_out)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
