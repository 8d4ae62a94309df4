"""How learning platforms name what they hand out: from the name of an entry to whose it is and what it was called."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Named:
    """One entry. `learner` is the platform's id for whoever handed it in, `name` what it calls them, `path` the name of
    the file as handed in. `order` grows with every upload where the platform counts them; `late` where it says so.
    """

    platform: str
    learner: str
    name: str
    path: str
    order: int = 0
    late: bool = False


_CANVAS = re.compile(
    r"(?:(?P<name>[^/]*?)_)?(?P<late>LATE_|late_)?(?P<id>\d+)_(?:(?P<order>\d+)_(?P<path>[^/]+)|(?P<text>(?:text|link)\.html))"
)
_CANVAS_ANONYMOUS = re.compile(
    r"(?P<late>LATE_|late_)?anon_(?P<id>[0-9A-Za-z]+)_(?:(?P<order>\d+)_(?P<path>[^/]+)|(?P<text>(?:text|link)\.html))"
)
_MOODLE = re.compile(
    r"(?P<name>[^/]+?)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)(?:_?/|_)(?P<path>.+)", re.DOTALL
)


def canvas(entry: str) -> Named | None:
    """Canvas: `lovelaceada_LATE_4711_90210_lab.py`, flat; the numbers are the learner's and the upload's. A text typed
    in is `lovelaceada_4711_text.html`. Graded without names: `anon_Xy12Z_90210_lab.py`.
    """
    found = _CANVAS_ANONYMOUS.fullmatch(entry) or _CANVAS.fullmatch(entry)
    if found is None:
        return None
    name = found.groupdict().get("name") or "anon"
    path = found["path"] or found["text"]
    return Named("canvas", found["id"], name, path, int(found["order"] or 0), bool(found["late"]))


def moodle(entry: str) -> Named | None:
    """Moodle: `Ada Lovelace_815_assignsubmission_file/lab.py`, or flat `Ada Lovelace_815_assignsubmission_file_lab.py`;
    a text typed in is of kind `onlinetext`. The number is of this learner in this assignment only. Graded without names
    everybody is called `Participant`.
    """
    found = _MOODLE.fullmatch(entry)
    if found is None:
        return None
    path = found["path"]
    if found["kind"] != "file":
        path = f"{found['kind']}-{path.rpartition('/')[2]}"
    return Named("moodle", found["id"], found["name"], path)


PLATFORMS: dict[str, Callable[[str], Named | None]] = {"moodle": moodle, "canvas": canvas}
"""Asked in this order: a name of Moodle's may look like one of Canvas's, not the other way round."""


def which(entries: Sequence[str]) -> str | None:
    """The platform that named most of these entries; None where no name is of any."""
    fits = {name: sum(bool(read(entry)) for entry in entries) for name, read in PLATFORMS.items()}
    best = max(fits, key=lambda name: fits[name])
    return best if fits[best] else None


def own_name(path: str, wanted: Sequence[str]) -> str:
    """What a file was called before the platform numbered it: Canvas makes `lab-1.py` of the second `lab.py`. Only
    names that are `wanted` are won back, since a name may well end in a number of its own.
    """
    if path in wanted:
        return path
    match = re.fullmatch(r"(?P<stem>.+)-\d{1,4}(?P<ext>\.[^./]+)", path)
    plain = f"{match['stem']}{match['ext']}" if match else path
    return plain if plain in wanted else path
