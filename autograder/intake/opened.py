"""A hand-in that is an archive, opened for grading: into a folder of its own, so that submitted/ stays as it is."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.handin import digest, preflight
from autograder.handin.repair import plain
from autograder.intake import archive
from autograder.intake.archive import Caps, Meter
from autograder.intake.names import REFUSED, Rejected

LAB = "lab.py"


@dataclass(frozen=True)
class Opened:
    """The folder to grade, and notes of what was done with it."""

    folder: Path
    notes: tuple[str, ...] = ()


@contextlib.contextmanager
def opened(folder: Path, assignment: str, caps: Caps | None = None) -> Iterator[Opened]:
    """What is to be graded of the hand-in in `folder`: the folder itself, or, where it holds one archive and neither a
    notebook nor a lab.py, what is in the archive. Raises Rejected, with what the learner can do about it.
    """
    if (folder / REFUSED).is_file() and not (folder / REFUSED).is_symlink():
        raise Rejected(_reason(folder / REFUSED))
    first = found = _archive(folder)
    if first is None or found is None:
        yield Opened(folder)
        return
    with tempfile.TemporaryDirectory(prefix="shardlab-archive-") as name:
        meter = Meter(caps or Caps())
        here = Path(name)
        for depth in range(1, meter.caps.depth + 2):
            if depth > meter.caps.depth:
                raise Rejected(
                    "the archive holds an archive, and that another. Pack the files themselves, not their archive"
                )
            here = Path(name) / str(depth)
            here.mkdir()
            archive.unpack(found, here, meter)
            here = _inside(here, assignment)
            found = _archive(here)
            if found is None:
                break
        notes = [f"{plain(first.name)} was unpacked"]
        beside = [name for name in _names(folder) if name not in (first.name, *digest.STAMPS)]
        if beside:
            notes.append(
                f"beside {plain(first.name)}, this was not graded: {', '.join(map(plain, beside[:8]))}"
            )
        yield Opened(here, tuple(notes))


def _archive(folder: Path) -> Path | None:
    """The only archive in `folder`, where no notebook and no lab.py lies in it."""
    names = _names(folder)
    if any(name == LAB or name.endswith(".ipynb") for name in names):
        return None
    archives = [name for name in names if archive.is_archive(name)]
    return folder / archives[0] if len(archives) == 1 else None


def _names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:
        return []


def _inside(folder: Path, assignment: str) -> Path:
    """Where in an unpacked archive the hand-in lies: many pack the folder around it, or their whole course."""
    wanted = (LAB, f"{assignment}.ipynb")
    holding = [
        Path(here) for here, _, files in sorted(os.walk(folder)) if any(name in files for name in wanted)
    ]
    named = [path for path in holding if path.name == assignment]
    for candidates in (named, holding):
        if len(candidates) == 1:
            return candidates[0]
    while not holding and len(names := _names(folder)) == 1 and (folder / names[0]).is_dir():
        folder = folder / names[0]
    return folder


def _reason(path: Path) -> str:
    try:
        return plain_text(preflight.read_file(path).decode("utf-8", "replace"))
    except preflight.Unreadable as problem:
        return str(problem)


def plain_text(text: str) -> str:
    """A reason as it stood in a file that anybody may have written: one line, not long."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:600] or "refused"
