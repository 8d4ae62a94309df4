"""Where hand-ins are laid out: below submitted/, whole or not at all, one collector at a time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from autograder.handin import digest
from autograder.intake.names import RECORDS, fold
from autograder.tomlfile import ContentError

STAMP = "timestamp.txt"


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Where a hand-in came from: the platform, its number and name for the learner, its number of the last upload, and
    whether it calls it late.
    """

    platform: str
    learner: str
    name: str
    order: int = 0
    late: bool = False


class Shelf:
    """The folder submitted/ while hand-ins are put there. Make one with `shelf`."""

    def __init__(self, submitted: Path) -> None:
        self.submitted = submitted
        self._own = submitted / RECORDS

    def place(self, student: str, assignment: str) -> Path:
        """Where this hand-in lies, or is to lie. Raises ValueError where it cannot lie there."""
        for there in self.submitted.iterdir():
            if there.name != student and fold(there.name) == fold(student):
                raise ValueError(
                    f"{there.name} is there already, which some computers take for the same folder"
                )
        place = self.submitted / student / assignment
        for path in (place.parent, place):
            if os.path.lexists(path) and (path.is_symlink() or not path.is_dir()):
                raise ValueError(f"{path} is no folder")
        return place

    def record(self, student: str, assignment: str) -> Record | None:
        """Where the hand-in that lies there came from; None where that is not known."""
        try:
            return msgspec.json.decode(self._record(student, assignment).read_bytes(), type=Record)
        except (OSError, msgspec.MsgspecError):
            return None

    @contextlib.contextmanager
    def staged(self) -> Iterator[Path]:
        """An empty folder for one hand-in in the making; gone afterwards, where it was not put."""
        with tempfile.TemporaryDirectory(dir=self._own, prefix="new-") as name:
            made = Path(name) / "hand-in"
            made.mkdir()
            yield made

    def put(self, staged: Path, student: str, assignment: str, record: Record, time: datetime | None) -> bool:
        """Puts a hand-in in its place, and of one that lay there keeps nothing. Returns whether one did."""
        if time is not None:
            (staged / STAMP).write_text(f"{time:%Y-%m-%d %H:%M:%S} UTC\n", encoding="utf-8")
        place = self.place(student, assignment)
        place.parent.mkdir(exist_ok=True)
        was = self._own / "was" / student / assignment
        replaced = place.exists()
        if replaced:
            was.parent.mkdir(parents=True, exist_ok=True)
            place.rename(was)
        try:
            staged.rename(place)
        except BaseException:
            if replaced:
                was.rename(place)
            raise
        if replaced:
            shutil.rmtree(was)
        self._write(student, assignment, record)
        return replaced

    def recover(self) -> None:
        """Puts right what a collector that was killed has left: a hand-in half out of its place goes back."""
        for was in sorted(self._own.glob("was/*/*")):
            place = self.submitted / was.parent.name / was.name
            if place.exists():
                shutil.rmtree(was)
            else:
                place.parent.mkdir(exist_ok=True)
                was.rename(place)
        for left in self._own.glob("new-*"):
            shutil.rmtree(left)

    def _record(self, student: str, assignment: str) -> Path:
        return self._own / "from" / student / f"{assignment}.json"

    def _write(self, student: str, assignment: str, record: Record) -> None:
        path = self._record(student, assignment)
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_bytes(msgspec.json.encode(record))
        new.replace(path)


@contextlib.contextmanager
def shelf(submitted: Path) -> Iterator[Shelf]:
    """The folder `submitted`, made where it is not there, for one collector alone. Raises ContentError where another is
    at work.
    """
    (submitted / RECORDS).mkdir(parents=True, exist_ok=True)
    with (submitted / RECORDS / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ContentError(
                f"{submitted}: another `shardlab collect` is at work; wait until it ends"
            ) from None
        made = Shelf(submitted)
        made.recover()
        yield made


def same(one: Path, other: Path) -> bool:
    """Whether two hand-ins are the same, whenever they were handed in."""
    return digest.of_folder(one) == digest.of_folder(other)


def time_of(folder: Path) -> datetime | None:
    """When the hand-in in `folder` was handed in, as it says."""
    try:
        text = (folder / STAMP).read_text(encoding="utf-8").strip().removesuffix(" UTC")
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except (OSError, ValueError):
        return None
