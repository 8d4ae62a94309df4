"""Takes a learning platform's download apart and lays it out, learner by learner; one that cannot be taken stops none
of the others.
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from pathlib import Path

from autograder.handin import digest
from autograder.handin.repair import plain
from autograder.intake import platforms, zips
from autograder.intake.archive import JUNK, Caps, Meter, Target
from autograder.intake.names import REFUSED, Rejected, fold, is_student, student, way
from autograder.intake.platforms import Named
from autograder.intake.roster import Roster, Unknown
from autograder.intake.shelf import Record, Shelf, same, shelf, time_of
from autograder.intake.zips import Broken, Zip
from autograder.tomlfile import ContentError

ENTRIES_MOST = 500_000
HAND_IN = Caps(files=500)
"""What one learner may hand in, before any archive of theirs is opened."""


class What(StrEnum):
    """What became of one hand-in."""

    TAKEN = "taken"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    KEPT = "kept"  # a later one lies there
    REJECTED = "rejected"  # laid out as refused: the learner is told
    REFUSED = "refused"  # not laid out: the instructor has to see to it
    NOT_UNDERSTOOD = "not understood"


TO_SEE_TO = frozenset({What.REFUSED, What.NOT_UNDERSTOOD})


@dataclass(frozen=True)
class Line:
    """One line of the report: `who` is our id, or what the platform calls them or the entry."""

    what: What
    who: str
    why: str = ""


@dataclass
class Learner:
    """All entries of one learner in a download."""

    platform: str
    id: str
    name: str
    files: list[tuple[Named, zipfile.ZipInfo]] = field(default_factory=list)

    @property
    def record(self) -> Record:
        order = max(named.order for named, _ in self.files)
        late = any(named.late for named, _ in self.files)
        return Record(platform=self.platform, learner=self.id, name=self.name, order=order, late=late)

    @property
    def time(self) -> datetime | None:
        times = [time for _, info in self.files if (time := zips.modified(info)) is not None]
        return max(times, default=None)


def collect(download: Path, submitted: Path, assignment: str, roster: Roster | None = None) -> list[Line]:
    """Lays `download` out as `submitted`/<learner>/<assignment>/ and says what became of each hand-in in it. Raises
    ContentError where the download itself cannot be read, or is of no platform that is known.
    """
    try:
        with download.open("rb") as file, Zip(file, ENTRIES_MOST) as found, shelf(submitted) as place:
            learners, lines = _learners(download, found)
            ids, refused = _ids(learners, roster)
            lines += refused
            for learner in learners:
                if learner.id in ids:
                    lines.append(_take(found, learner, ids[learner.id], assignment, place))
    except (Broken, Rejected) as problem:
        raise ContentError(f"{download}: {problem}; download it again") from None
    except OSError as error:
        if error.filename == str(download):
            raise ContentError(f"{download}: {error.strerror}") from None
        raise
    return lines


def _learners(download: Path, found: Zip) -> tuple[list[Learner], list[Line]]:
    entries = {name: info for info in found.entries() if not (name := zips.name(info)).endswith("/")}
    entries = {name: info for name, info in entries.items() if not set(name.split("/")) & set(JUNK)}
    names = list(entries)
    top = {name.partition("/")[0] for name in names}
    wrapped = len(top) == 1 and platforms.which(names) is None
    cut = len(next(iter(top))) + 1 if wrapped else 0
    platform = platforms.which([name[cut:] for name in names])
    if platform is None:
        shown = ", ".join(repr(plain(name)) for name in names[:3]) or "nothing"
        raise ContentError(
            f"{download}: holds {shown}, not named as Canvas or Moodle name what they download for one assignment"
        )
    learners: dict[str, Learner] = {}
    lines = []
    for name, info in entries.items():
        named = platforms.PLATFORMS[platform](name[cut:])
        if named is None:
            lines.append(Line(What.NOT_UNDERSTOOD, plain(name), f"no name that {platform.title()} makes"))
        else:
            learner = learners.setdefault(named.learner, Learner(platform, named.learner, named.name))
            learner.files.append((named, info))
    return list(learners.values()), lines


def _ids(learners: Sequence[Learner], roster: Roster | None) -> tuple[dict[str, str], list[Line]]:
    """Our id for each learner of the platform, and a line for each that gets none."""
    ids: dict[str, str] = {}
    lines = []
    alike = len(learners) > 1 and len({learner.name for learner in learners}) == 1
    for learner in learners:
        try:
            ids[learner.id] = roster.find(learner.id, learner.name) if roster else _own(learner, alike)
        except Unknown as problem:
            lines.append(Line(What.REFUSED, _shown(learner), str(problem)))
    taken: dict[str, list[str]] = {}
    for number, name in ids.items():
        taken.setdefault(fold(name), []).append(number)
    for numbers in taken.values():
        if len(numbers) > 1:
            for learner in (one for one in learners if one.id in numbers):
                others = len(numbers) - 1
                why = f"{others} more in this download would be {ids.pop(learner.id)} too: tell them apart in a roster"
                lines.append(Line(What.REFUSED, _shown(learner), why))
    return ids, lines


def _own(learner: Learner, alike: bool) -> str:
    """An id that is the same in every download. Canvas's numbers are the learner's for good; Moodle's are not."""
    numbered = learner.platform == "canvas" or alike or learner.name.casefold() == "participant"
    made = student(learner.name, learner.id) if numbered else student(learner.name)
    if not is_student(made):
        raise Unknown("no folder can be called so: name them in a roster")
    return made


def _take(found: Zip, learner: Learner, name: str, assignment: str, place: Shelf) -> Line:
    late = ", late" if learner.record.late else ""
    try:
        there = place.place(name, assignment)
        before = place.record(name, assignment) if there.exists() else None
        if before and before.platform == learner.platform and before.learner != learner.id:
            raise ValueError(
                f"there lies the hand-in of {before.name} ({before.learner}): tell them apart in a roster"
            )
        with place.staged() as staged:
            refused = _fill(found, learner, assignment, staged)
            if there.exists() and same(staged, there):
                return Line(What.UNCHANGED, name)
            if there.exists() and _earlier(learner, before, time_of(there)):
                return Line(What.KEPT, name, "what lies there is later")
            replaced = place.put(staged, name, assignment, learner.record, learner.time)
    except Broken as problem:
        return Line(What.REFUSED, _shown(learner), f"in the download, {problem}: download it again")
    except ValueError as problem:
        return Line(What.REFUSED, _shown(learner), str(problem))
    if refused:
        return Line(What.REJECTED, name, refused)
    return Line(What.REPLACED if replaced else What.TAKEN, name, f"{_shown(learner)}{late}")


def _fill(found: Zip, learner: Learner, assignment: str, staged: Path) -> str:
    """Writes one hand-in into the empty folder `staged`; why it is refused, empty where it is not. A refused one holds
    that reason and nothing else. Raises Broken.
    """
    meter = Meter(HAND_IN, packed=sum(info.compress_size for _, info in learner.files))
    target = Target(staged, meter)
    try:
        for name, info in _latest(learner, assignment).items():
            zips.check_kind(info)
            parts = way(name)
            if parts and parts[0] not in (REFUSED, *digest.STAMPS):
                target.file(name, found.pieces(info))
    except Rejected as refused:
        for path in sorted(staged.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        (staged / REFUSED).write_text(f"{refused}\n", encoding="utf-8")
        return str(refused)
    return ""


def _latest(learner: Learner, assignment: str) -> dict[str, zipfile.ZipInfo]:
    """The entries by their own names; of two uploads of one file the later counts."""
    wanted = (f"{assignment}.ipynb", "lab.py")
    ordered = sorted(learner.files, key=lambda pair: pair[0].order)
    return {platforms.own_name(named.path, wanted): info for named, info in ordered}


def _earlier(learner: Learner, before: Record | None, time: datetime | None) -> bool:
    """Whether this hand-in is older than the one that lies there: by the platform's own count, else by time."""
    if before and before.platform == learner.platform and before.order and learner.record.order:
        return learner.record.order < before.order
    return time is not None and learner.time is not None and learner.time < time


def _shown(learner: Learner) -> str:
    return f"{plain(learner.name)} ({learner.platform.title()} {learner.id})"
