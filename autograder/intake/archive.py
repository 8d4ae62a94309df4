"""Unpacks one archive of a learner into an empty folder, or refuses it: bounded in every direction, files and folders
only, nothing outside the folder.
"""

from __future__ import annotations

import os
import stat
import tempfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from autograder.handin.repair import plain
from autograder.intake import tars, zips
from autograder.intake.names import Rejected, fold, way
from autograder.intake.zips import Broken, Zip

MiB = 1 << 20
SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
STRANGE = (".7z", ".rar", ".zipx", ".cab", ".arj", ".lzh", ".iso", ".dmg", ".tar.zst", ".tzst")
"""Archives that are known and not read."""

JUNK = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini")


@dataclass(frozen=True)
class Caps:
    """What an archive may come to, in bytes that are really written. `ratio` is written bytes for one of the archive;
    it counts from `ratio_from` bytes on, since a short text may well shrink to nothing.
    """

    archive: int = 64 * MiB
    file: int = 64 * MiB
    total: int = 128 * MiB
    files: int = 2000
    ratio: int = 200
    ratio_from: int = 8 * MiB
    depth: int = 2


@dataclass
class Meter:
    """Counts what is written of one hand-in, through archives in archives. Raises Rejected at the caps."""

    caps: Caps
    packed: int = 0
    written: int = 0
    files: int = 0
    _seen: dict[str, str] = field(default_factory=dict)

    def count(self) -> None:
        """One more entry."""
        self.files += 1
        if self.files > self.caps.files:
            raise Rejected(
                f"the archive holds more than {self.caps.files} files. Pack only what is to be graded"
            )

    def bytes(self, pieces: Iterable[bytes], most: int) -> Iterator[bytes]:
        """The same pieces, counted."""
        mine = 0
        for piece in pieces:
            mine += len(piece)
            self.written += len(piece)
            if mine > most or self.written > self.caps.total:
                raise Rejected(
                    f"unpacked it comes to more than {min(most, self.caps.total) // MiB} MiB. "
                    "Pack only what is to be graded, without data sets and checkpoints"
                )
            if self.written > self.caps.ratio_from and self.written > self.caps.ratio * self.packed:
                raise Rejected(
                    f"it unpacks to more than {self.caps.ratio} times its size. Pack only your own files"
                )
            yield piece


def is_archive(name: str) -> bool:
    """Whether a file of this name is an archive, one that is read here or not."""
    return name.lower().endswith((*SUFFIXES, *STRANGE))


def unpack(path: Path, target: Path, meter: Meter) -> None:
    """Unpacks the archive `path` into the empty folder `target`. Raises Rejected with what to do; `target` then holds
    anything. Follows no link.
    """
    if path.name.lower().endswith(STRANGE):
        raise Rejected("an archive of this kind is not read here. Pack it as a .zip or .tar.gz")
    try:
        with _open(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > meter.caps.archive:
                raise Rejected(
                    f"the archive is larger than {meter.caps.archive // MiB} MiB. Pack only your files"
                )
            meter.packed += size
            magic = file.read(4)
            if magic[:2] == b"PK":
                _zip(file, Target(target, meter))
            else:
                _tar(file, Target(target, meter))
    except Broken as problem:
        raise Rejected(
            f"the archive is broken: {problem}. Pack it again, and open it once yourself"
        ) from None


def _open(path: Path) -> BinaryIO:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Broken(f"it cannot be opened ({error.strerror})") from None
    file = os.fdopen(handle, "rb")
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode) or not found.st_size:
        file.close()
        raise Broken("the file is empty" if stat.S_ISREG(found.st_mode) else "it is no file")
    return file


def _zip(file: BinaryIO, target: Target) -> None:
    with Zip(file, target.meter.caps.files) as found:
        for info in found.entries():
            zips.check_kind(info)
            name = zips.name(info)
            if name.endswith("/"):
                target.folder(name, bool(info.file_size))
            else:
                target.file(name, found.pieces(_plausible(info, target.meter.caps)))


def _plausible(info: zipfile.ZipInfo, caps: Caps) -> zipfile.ZipInfo:
    """Refuses at once what says of itself that it is too much."""
    if info.file_size > caps.file:
        raise Rejected(f"it holds a file of more than {caps.file // MiB} MiB. Pack only what is to be graded")
    return info


def _tar(file: BinaryIO, target: Target) -> None:
    caps = target.meter.caps
    with tempfile.TemporaryFile() as plainly:
        # Heads and padding come on top of the contents.
        whole = Meter(
            Caps(total=caps.total + 2048 * caps.files, ratio=caps.ratio), packed=target.meter.packed
        )
        for piece in whole.bytes(tars.unpacked(file), whole.caps.total):
            plainly.write(piece)
        for name, folder, content in tars.entries(plainly):
            if folder:
                target.folder(name, False)
            else:
                target.file(name, content)


class Target:
    """The empty folder `folder`, and what is unpacked in it: no name twice, in no spelling. Raises Rejected."""

    def __init__(self, folder: Path, meter: Meter) -> None:
        self._root, self.meter = folder, meter
        self._names: dict[str, str] = {}
        self._files: set[str] = set()

    def folder(self, name: str, filled: bool) -> None:
        self.meter.count()
        if filled:
            raise Broken("a folder in it has a content")
        parts = way(name)
        self._enter(parts)
        if parts and parts[0] not in JUNK:
            self._root.joinpath(*parts).mkdir(parents=True, exist_ok=True)

    def file(self, name: str, content: Iterable[bytes]) -> None:
        self.meter.count()
        parts = way(name)
        if not parts:
            raise Rejected("the archive holds a file without a name. Pack it again")
        self._enter(parts[:-1])
        self._new(parts)
        counted = self.meter.bytes(content, self.meter.caps.file)
        if parts[0] in JUNK or parts[-1] in JUNK:
            for _ in counted:
                pass
            return
        path = self._root.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            for piece in counted:
                file.write(piece)

    def _new(self, parts: tuple[str, ...]) -> None:
        key = fold("/".join(parts))
        if key in self._names:
            raise Rejected(
                f"the archive holds two files that some computers take for one: {plain('/'.join(parts))!r}. "
                "Keep one and pack again"
            )
        self._names[key] = "/".join(parts)
        self._files.add(key)

    def _enter(self, parts: tuple[str, ...]) -> None:
        """Every folder on the way: known in this spelling, or new."""
        for end in range(1, len(parts) + 1):
            here = "/".join(parts[:end])
            key = fold(here)
            if key in self._files or self._names.setdefault(key, here) != here:
                raise Rejected(
                    f"the archive holds two names that some computers take for one: {plain(here)!r}. "
                    "Keep one and pack again"
                )
