"""Which names may become files and folders: names in archives are chosen by learners, and some are chosen with care."""

from __future__ import annotations

import hashlib
import re
import unicodedata

from autograder.handin.repair import plain

DEEPEST = 20
"""Folders within folders an archive may have."""

LONGEST, LONGEST_WAY = 200, 1000
"""Bytes one part of a name may have, and all of it."""

RECORDS = ".intake"
"""Below submitted/: what was laid out, from where, and what is being laid out. No learner's."""

REFUSED = ".shardlab-rejected"
"""In a hand-in that was refused when it came in: a text that says why."""

_STUDENT = re.compile(r"^[^./\\*?\[\]][^/\\*?\[\]]*$")  # nbgrader reads * ? [ ] as a pattern
_DRIVE = re.compile(r"^[A-Za-z]:")


class Rejected(ValueError):
    """A hand-in refused before anything of it runs; the message tells the learner why and what to do."""


def is_student(name: str) -> bool:
    """Whether a folder may be a learner's: nbgrader takes its name, and it can be shown and written down."""
    # A table of grades is opened as a spreadsheet, which would run `=…`; nbgrader takes spaces off, so that "ada "
    # would be ada; and results/ holds files of its own.
    unfit = name != name.strip() or name.startswith(("=", "+", "-", "@")) or name.endswith((".csv", ".log"))
    return bool(_STUDENT.match(name)) and name.isprintable() and not unfit


def student(*parts: str) -> str:
    """The name of a learner's folder, made of what a platform calls them: the same for the same parts, small letters
    and digits of any script, joined by hyphens.
    """
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFKC", " ".join(parts)).casefold())
    words = "".join(c if c.isalnum() else " " for c in text).split()
    made = "-".join(words) or "learner"
    if len(made) <= 60 and words:
        return made
    return f"{made[:48]}-{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:10]}"


def fold(name: str) -> str:
    """The same for names that some file system takes for one: they differ in case or in how letters are composed."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFKC", name).casefold())


def way(name: str) -> tuple[str, ...]:
    """The parts of a name in an archive. Raises Rejected for one that could lead out of the folder it is unpacked in,
    or that cannot stand in every file system.
    """
    shown = repr(plain(name))
    if "\\" in name or name.startswith("/") or _DRIVE.match(name):
        raise Rejected(
            f"the archive names a file {shown}: a place on some computer, no place in the archive. "
            "Pack the files with your system's own packer"
        )
    parts = tuple(part for part in name.removesuffix("/").split("/") if part != ".")
    if ".." in parts:
        raise Rejected(f"the archive names a file {shown}, which lies outside it. Pack your own files only")
    if not all(parts) or not name.isprintable() or "\ufffd" in name:
        raise Rejected(f"the archive names a file {shown}, which is no name. Rename it and pack again")
    long = any(len(part.encode("utf-8", "replace")) > LONGEST for part in parts)
    if long or len(parts) > DEEPEST or len(name.encode("utf-8", "replace")) > LONGEST_WAY:
        raise Rejected(
            f"the archive names a file {shown}, longer than a name may be. Pack your own files only"
        )
    return parts
