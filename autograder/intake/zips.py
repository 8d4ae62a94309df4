"""Reads ZIP files of strangers: the directory by zipfile, the content here, so that not a byte more is made than asked
for, and an entry is exactly what its directory says.
"""

from __future__ import annotations

import mmap
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime
from types import TracebackType
from typing import BinaryIO

from autograder.intake.names import Rejected

PIECE = 1 << 16
_HEAD = re.compile(rb"PK\x01\x02")
_LOCKED = 0x1 | 0x40 | 0x2000
_UTF8 = 0x800
_STORED, _DEFLATED = 0, 8


class Broken(ValueError):
    """Bytes that are no archive, or not the whole of one; the message says what is wrong."""


class Zip:
    """The ZIP file in `file`, which is open for reading and has a descriptor. A context manager. Raises Broken, and
    Rejected for more than `most` entries: the memory its directory takes is then never asked for.
    """

    def __init__(self, file: BinaryIO, most: int) -> None:
        self._file = file
        if not os.fstat(file.fileno()).st_size:
            raise Broken("the file is empty")
        # Every entry of the directory begins so, whatever the numbers at the end of the file say.
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as view:
            for count, _ in enumerate(_HEAD.finditer(view)):
                if count >= most:
                    raise Rejected(
                        f"the archive holds more than {most} files. Pack only what is to be graded"
                    )
        try:
            self._zip = zipfile.ZipFile(file)
        except (zipfile.BadZipFile, UnicodeDecodeError, ValueError, EOFError, struct.error, OSError) as error:
            raise Broken(f"no ZIP file that can be read ({str(error)[:80]})") from None

    def __enter__(self) -> Zip:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._zip.close()

    def entries(self) -> list[zipfile.ZipInfo]:
        """All entries as the directory lists them."""
        return self._zip.infolist()

    def pieces(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        """The content of one entry, at most `PIECE` bytes at once. Raises Broken where it is not what the directory
        says, in length, checksum or name; Rejected where it can be read with a password only, or with another packer.
        """
        if info.flag_bits & _LOCKED:
            raise Rejected("the archive is locked with a password. Pack it again without one")
        if info.compress_type not in (_STORED, _DEFLATED):
            raise Rejected(
                "the archive is packed in a way that is not read here. Pack it as an ordinary .zip"
            )
        self._find(info)
        made, checksum = 0, 0
        for piece in self._stored(info) if info.compress_type == _STORED else self._inflated(info):
            made, checksum = made + len(piece), zlib.crc32(piece, checksum)
            if made > info.file_size:
                raise Broken("a file in it is larger than the archive says")
            yield piece
        if made != info.file_size or checksum != info.CRC:
            raise Broken("a file in it is not what was packed: its length or checksum is wrong")

    def _find(self, info: zipfile.ZipInfo) -> None:
        """Goes to the content of an entry."""
        try:
            self._file.seek(info.header_offset)
            head = self._file.read(30)
            if len(head) < 30 or head[:4] != b"PK\x03\x04":
                raise Broken("a file in it is not where the archive says")
            name, extra = struct.unpack("<HH", head[26:30])
            there = self._file.read(name)
            self._file.seek(extra, 1)
        except (OSError, ValueError, OverflowError) as error:
            if isinstance(error, Broken):
                raise
            raise Broken("a file in it is not where the archive says") from None
        if there != raw_name(info):
            raise Broken("a file in it has two names")

    def _stored(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        if info.compress_size != info.file_size:
            raise Broken("a file in it has two lengths")
        yield from self._raw(info.compress_size)

    def _raw(self, left: int) -> Iterator[bytes]:
        while left:
            piece = self._file.read(min(left, PIECE))
            if not piece:
                raise Broken("it ends in the middle of a file")
            left -= len(piece)
            yield piece

    def _inflated(self, info: zipfile.ZipInfo) -> Iterator[bytes]:
        inflate = zlib.decompressobj(-zlib.MAX_WBITS)
        raw = self._raw(info.compress_size)
        data = b""
        try:
            while not inflate.eof:
                piece = inflate.decompress(data, PIECE)
                data = inflate.unconsumed_tail
                if piece:
                    yield piece
                elif not data and not inflate.eof:
                    data = next(raw, b"")
                    if not data:
                        raise Broken("it ends in the middle of a file")
        except zlib.error:
            raise Broken("a file in it cannot be unpacked") from None
        if inflate.unused_data or next(raw, b""):
            raise Broken("a file in it is longer than the archive says")


def raw_name(info: zipfile.ZipInfo) -> bytes:
    """The name of an entry, byte for byte."""
    return info.orig_filename.encode("utf-8" if info.flag_bits & _UTF8 else "cp437")


def name(info: zipfile.ZipInfo) -> str:
    """The name of an entry. macOS writes UTF-8 and does not say so; what is neither is read as old Windows wrote it."""
    try:
        return raw_name(info).decode("utf-8")
    except UnicodeDecodeError:
        return info.orig_filename


def check_kind(info: zipfile.ZipInfo) -> None:
    """Raises Rejected for what is neither a file nor a folder."""
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        raise Rejected("the archive holds a link. Pack the file itself")
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise Rejected("the archive holds a device or a pipe. Pack your own files only")


def modified(info: zipfile.ZipInfo) -> datetime | None:
    """When the entry was last changed, as the archive says; where it says only a local time, that is taken as UTC.
    None for one that says nothing.
    """
    extra = info.extra
    while len(extra) >= 4:
        kind, size = struct.unpack("<HH", extra[:4])
        if kind == 0x5455 and size >= 5 and len(extra) >= 9 and extra[4] & 1:
            return datetime.fromtimestamp(struct.unpack("<I", extra[5:9])[0], UTC)
        extra = extra[4 + size :]
    try:
        made = datetime(*info.date_time, tzinfo=UTC)
    except ValueError:
        return None
    return made if made.year > 1980 else None
