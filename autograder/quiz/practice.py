"""Practice with the bank: what is asked next, whether an answer is right and why, and what is remembered of it.

What was missed comes back in the same session and then at growing distances (boxes of 0, 1, 3, 7, 16 and 35 days); what
was right moves one box on. The judge decides, so practice says just what a quiz would.
"""

from __future__ import annotations

import datetime
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import platformdirs

from autograder.content import Course
from autograder.item import Item
from autograder.judge.heard import Heard
from autograder.judge.item import item_parts
from autograder.judge.part import Tell
from autograder.learner.draw import pick
from autograder.learner.values import value_of
from autograder.quiz.pose import Posed, faces, pose
from autograder.tomlfile import ContentError

DAYS = (0, 1, 3, 7, 16, 35)
AGAIN = 3
"""How many other questions stand between a miss and the same question in one session, where there are as many."""


class Seen(msgspec.Struct, kw_only=True):
    """What is remembered of one item: its box, the day it is due, how often it was right and wrong."""

    version: int
    box: int = 0
    due: datetime.date
    right: int = 0
    wrong: int = 0


class Memory(msgspec.Struct, kw_only=True):
    """All that is remembered, by item id."""

    schema: int = 1
    items: dict[str, Seen] = msgspec.field(default_factory=dict)


@dataclass(frozen=True)
class Said:
    """The word on one part of an answer: its name, its share of the points, and what to say."""

    part: str
    fraction: float
    text: str


@dataclass(frozen=True)
class Outcome:
    """The word on an answer: right as a whole or not, part by part, and why it is so."""

    right: bool
    parts: tuple[Said, ...]
    explanation: str


def memory_path() -> Path:
    """Where practice is remembered: in the user's data folder, or in SHARDLAB_DATA."""
    folder = os.environ.get("SHARDLAB_DATA")
    return (Path(folder) if folder else platformdirs.user_data_path("shardlab")) / "practice.json"


def remembered(path: Path) -> Memory:
    """What is remembered at `path`; nothing where there is no file. Raises ContentError where it cannot be read."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Memory)
    except FileNotFoundError:
        return Memory()
    except (OSError, msgspec.MsgspecError) as error:
        raise ContentError(f"{path}: cannot be read: {error}; move it away to begin anew") from error


def remember(memory: Memory, path: Path) -> None:
    """Writes the file whole or not at all. Raises ContentError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=".practice-")
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(memory), indent=1))
        Path(name).replace(path)
    except OSError as error:
        raise ContentError(
            f"{path}: cannot be written: {error}; set SHARDLAB_DATA to another folder"
        ) from error


class Session:
    """One sitting: `count` questions of `topics` (empty: all), due ones first, then new ones by level."""

    def __init__(
        self,
        course: Course,
        memory: Memory,
        *,
        topics: Iterable[str] = (),
        count: int = 10,
        today: datetime.date | None = None,
    ) -> None:
        self.today = today or datetime.date.today()
        self._course = course
        self._memory = memory
        wanted = set(topics)
        known = {item.topic for item in course.items.values()}
        if wanted - known:
            raise ContentError(
                f"no topic {', '.join(sorted(wanted - known))}; there are {', '.join(sorted(known))}"
            )
        pool = [
            item
            for item in course.items.values()
            if item.use == "practice" and item.form != "essay" and (not wanted or item.topic in wanted)
        ]
        self.due = [item.id for item in sorted(pool, key=self._when) if self._is_due(item)]
        new = sorted((item for item in pool if item.id not in memory.items), key=lambda item: item.level)
        self._queue = (self.due + [item.id for item in new])[:count]
        self._missed: set[str] = set()
        self.asked = 0
        self.right = 0
        self.total = len(self._queue)

    @property
    def left(self) -> int:
        """How many questions are still to come, those that come back included."""
        return len(self._queue)

    def next(self) -> Posed | None:
        """The next question, None at the end. A numeric item comes with other numbers each time it is due."""
        if not self._queue:
            return None
        item = self._course.items[self._queue[0]]
        seen = self._memory.items.get(item.id)
        turns = (seen.right + seen.wrong) if seen else 0
        return pose(item, pick(f"{item.id}/{turns}", "practice", range(faces(item))))

    def answer(self, posed: Posed, given: Mapping[str, Any]) -> Outcome:
        """Judges an answer to the question that `next` gave, remembers it, and goes on."""
        outcome = judge(self._course, posed, given)
        ident = self._queue.pop(0)
        seen = self._memory.items.setdefault(ident, Seen(version=posed.item.version, due=self.today))
        if seen.version != posed.item.version:
            seen.version, seen.box = posed.item.version, 0
        self.asked += 1
        if outcome.right:
            self.right += 1
            seen.right += 1
            # right at the second go of one sitting is not known yet: it comes back tomorrow
            seen.box = 1 if ident in self._missed else min(seen.box + 1, len(DAYS) - 1)
        else:
            seen.wrong += 1
            seen.box = 0
            self._missed.add(ident)
            self._queue.insert(min(AGAIN, len(self._queue)), ident)
        seen.due = self.today + datetime.timedelta(days=DAYS[seen.box])
        return outcome

    def skip(self) -> None:
        """Leaves the question for another time."""
        self._queue.pop(0)

    def _is_due(self, item: Item) -> bool:
        seen = self._memory.items.get(item.id)
        return seen is not None and (seen.due <= self.today or seen.version != item.version)

    def _when(self, item: Item) -> datetime.date:
        seen = self._memory.items.get(item.id)
        return seen.due if seen else datetime.date.max


def judge(course: Course, posed: Posed, given: Mapping[str, Any]) -> Outcome:
    """The judge's word on an answer, e.g. {"claim": "T", "because": "b"} or {"value": "14 GB"}."""
    _, _, number = posed.id.partition("#")
    parts = item_parts(posed.item.id, posed.item, face=int(number or 0))
    values = {f"{posed.item.id}/{name}": value_of(each) for name, each in given.items()}
    heard = Heard(submitted=True, answers=values, ended="done")
    tell = Tell(course.misconceptions, posed.item.id)
    said = []
    for part in parts:
        what = part.name.rpartition("/")[2]
        if part.name not in values:
            said.append(Said(what, 0, "Not answered."))
            continue
        judged = part.judge(heard, b"", tell)
        told = "" if judged.fraction == 1 or judged.reason == "Not right." else judged.reason
        said.append(Said(what, judged.fraction, told))
    return Outcome(all(one.fraction == 1 for one in said), tuple(said), posed.explanation)
