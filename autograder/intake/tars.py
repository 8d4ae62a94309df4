"""Reads tar files of strangers, plain or packed. Only files and folders are known; every header is bounded before it is
read, which tarfile does not do.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from autograder.intake.names import Rejected
from autograder.intake.zips import PIECE, Broken

BLOCK = 512
WORDS_MOST = 1 << 14
"""Bytes a header that holds a long name may have."""

_LINKS = {b"1": "a link", b"2": "a link", b"3": "a device", b"4": "a device", b"6": "a pipe"}


def unpacked(file: BinaryIO) -> Iterator[bytes]:
    """The tar inside a .tar.gz, .tar.bz2 or .tar.xz, piece by piece; a plain tar as it is. Raises Broken."""
    file.seek(0)
    magic = file.read(6)
    file.seek(0)
    openers: dict[bytes, Callable[[BinaryIO], Any]] = {
        b"\x1f\x8b": gzip.open,
        b"BZh": bz2.open,
        b"\xfd7zXZ\x00": lzma.open,
    }
    opener = next(
        (found for start, found in openers.items() if magic.startswith(start)), contextlib.nullcontext
    )
    try:
        with opener(file) as stream:
            while piece := stream.read(PIECE):
                yield piece
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise Broken(f"it cannot be unpacked ({str(error)[:80]})") from None


def entries(file: BinaryIO) -> Iterator[tuple[str, bool, Iterator[bytes]]]:
    """Name, whether it is a folder, and content of every entry of a plain tar; the content is read before the next
    entry is asked for. Raises Broken, and Rejected for what is neither a file nor a folder.
    """
    file.seek(0)
    words: dict[str, bytes] = {}
    while (head := file.read(BLOCK)) and head != bytes(BLOCK):
        _check(head)
        kind, size = head[156:157], _number(words.get("size", head[124:136]))
        at = file.tell()
        if kind in (b"L", b"K", b"x", b"g"):
            if size > WORDS_MOST:
                raise Rejected("the archive names a file longer than a name may be. Pack your own files only")
            body = file.read(size)
            if kind == b"L":
                words["path"] = body.rstrip(b"\0")
            elif kind == b"x":
                words |= _words(body)
        else:
            if kind in _LINKS:
                raise Rejected(f"the archive holds {_LINKS[kind]}. Pack the file itself")
            if kind not in (b"0", b"\0", b"5") or any(word.startswith("GNU.sparse") for word in words):
                raise Rejected("the archive is packed in a way that is not read here. Pack it as a .zip")
            name = _text(words.get("path") or _name(head))
            folder = kind == b"5" or name.endswith("/")
            if folder and size:
                raise Broken("a folder in it has a content")
            words = {}
            yield name, folder, _content(file, size)
        file.seek(at + -(-size // BLOCK) * BLOCK)


def _check(head: bytes) -> None:
    if len(head) < BLOCK:
        raise Broken("it ends in the middle of a file")
    said = _number(head[148:156])
    if said != sum(head) - sum(head[148:156]) + 8 * 32:
        raise Broken("no tar file: a checksum in it is wrong")


def _content(file: BinaryIO, left: int) -> Iterator[bytes]:
    while left:
        piece = file.read(min(left, PIECE))
        if not piece:
            raise Broken("it ends in the middle of a file")
        left -= len(piece)
        yield piece


def _number(field: bytes) -> int:
    """A number of a header: digits of base 8 (base 10 in a long header), or, with the first bit set, bytes."""
    if field[:1] == b"\x80":
        return int.from_bytes(field[1:])
    text = field.strip(b" \0")
    try:
        found = int(text or b"0", 8 if len(field) in (8, 12) else 10)
    except ValueError:
        found = -1
    if found < 0:
        raise Broken("no tar file: a number in it cannot be read")
    return found


def _words(body: bytes) -> dict[str, bytes]:
    """The `length key=value` lines of a long header."""
    found = {}
    while body:
        digits, space, _ = body[:20].partition(b" ")
        if not space or not digits.isdigit() or not len(digits) + 2 < int(digits) <= len(body):
            raise Broken("no tar file: a header in it cannot be read")
        key, _, value = body[len(digits) + 1 : int(digits) - 1].partition(b"=")
        # A length of 8 or 12 digits would be read in base 8: numbers of this header are told apart by a leading 0.
        found[key.decode("ascii", "replace")] = b"0" * 13 + value if key == b"size" else value
        body = body[int(digits) :]
    return found


def _name(head: bytes) -> bytes:
    name = head[:100].partition(b"\0")[0]
    prefix = head[345:500].partition(b"\0")[0] if head[257:263] == b"ustar\0" else b""
    return prefix + b"/" + name if prefix else name


def _text(name: bytes) -> str:
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        raise Rejected(
            "the archive names a file in letters that cannot be read. Rename it and pack again"
        ) from None
