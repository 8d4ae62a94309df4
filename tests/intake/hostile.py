"""Archives made in tests: honest ones, and every hostile one we know."""

from __future__ import annotations

import io
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

MiB = 1 << 20


def zipped(*files: tuple[str, bytes], compressed: bool = True) -> bytes:
    """A ZIP file of these names and contents."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED) as made:
        for name, content in files:
            made.writestr(entry(name), content, zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED)
    return out.getvalue()


def entry(name: str, mode: int = 0) -> zipfile.ZipInfo:
    made = zipfile.ZipInfo("x", (2026, 11, 2, 12, 0, 0))
    made.filename = name  # as it is: the constructor would mend some
    made.external_attr = mode << 16
    made.create_system = 3
    return made


def special(mode: int, content: bytes = b"/etc/passwd") -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr(entry("lab.py", mode), content)
    return out.getvalue()


def tarred(
    *members: tarfile.TarInfo | tuple[str, bytes], mode: str = "w:gz", form: int = tarfile.PAX_FORMAT
) -> bytes:
    """A tar file of files (name and content) and of members as given."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=form) as made:  # type: ignore[call-overload]
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                made.addfile(member)
            else:
                info = tarfile.TarInfo(member[0])
                info.size = len(member[1])
                made.addfile(info, io.BytesIO(member[1]))
    return out.getvalue()


def member(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.type, made.linkname = kind, link
    return made


def patched(content: bytes, *at: tuple[bytes, int, bytes]) -> bytes:
    """`content` with bytes put `offset` after each occurrence of a signature."""
    made = bytearray(content)
    for signature, offset, new in at:
        place = made.find(signature)
        assert place >= 0
        while place >= 0:
            made[place + offset : place + offset + len(new)] = new
            place = made.find(signature, place + 1)
    return bytes(made)


LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"


def _locked() -> bytes:
    return patched(zipped(("lab.py", b"x = 1\n")), (LOCAL, 6, b"\x01\x00"), (CENTRAL, 8, b"\x01\x00"))


def _larger_than_said() -> bytes:
    """The directory says 10 bytes, with their checksum; the stream holds a MiB."""
    content = b"#" * MiB
    small = struct.pack("<L", 10)
    checksum = struct.pack("<L", zlib.crc32(content[:10]))
    return patched(zipped(("lab.py", content)), (CENTRAL, 16, checksum), (CENTRAL, 24, small))


def _overlapping() -> bytes:
    """One packed stream that a hundred names point at."""
    whole = zipped(("aa.py", bytes(4 * MiB)))
    at, end = whole.find(CENTRAL), whole.find(END)
    heads = whole[at:end] * 100
    tail = bytearray(whole[end:])
    tail[8:12] = struct.pack("<HH", 100, 100)
    tail[12:16] = struct.pack("<L", len(heads))
    return whole[:at] + heads + bytes(tail)


def _wrong_checksum() -> bytes:
    return patched(zipped(("lab.py", b"x = 1\n")), (CENTRAL, 16, b"\0\0\0\0"))


def _two_names() -> bytes:
    made = zipped(("lab.py", b"x = 1\n"))
    return patched(made, (LOCAL, 30, b"bad.py"))


def _sparse() -> bytes:
    made = bytearray(tarred(("lab.py", b"x = 1\n"), mode="w", form=tarfile.GNU_FORMAT))
    made[156:157] = b"S"
    made[148:156] = b" " * 8
    made[148:156] = b"%06o\0 " % sum(made[:512])
    return bytes(made)


def _long_words() -> bytes:
    info = tarfile.TarInfo("lab.py")
    info.pax_headers = {"comment": "x" * MiB}
    return tarred(info)


def _quoted() -> bytes:
    """A name in bytes that are not UTF-8, though the entry says so."""
    return patched(zipped(("läb.py", b"x = 1\n")), ("ä".encode(), 0, b"\xff\xfe"))


HOSTILE: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "up": (".zip", lambda: zipped(("../lab.py", b"x")), "outside"),
    "up in the middle": (".zip", lambda: zipped(("a/../../lab.py", b"x")), "outside"),
    "absolute": (".zip", lambda: zipped(("/etc/lab.py", b"x")), "no place in the archive"),
    "drive": (".zip", lambda: zipped(("C:lab.py", b"x")), "no place in the archive"),
    "backslash": (".zip", lambda: zipped(("..\\lab.py", b"x")), "no place in the archive"),
    "control": (".zip", lambda: zipped(("la\nb.py", b"x")), "no name"),
    "long": (".zip", lambda: zipped(("x" * 300, b"x")), "longer than a name"),
    "deep": (".zip", lambda: zipped(("d/" * 40 + "lab.py", b"x")), "longer than a name"),
    "no part": (".zip", lambda: zipped(("a//lab.py", b"x")), "no name"),
    "link": (".zip", lambda: special(stat.S_IFLNK | 0o777), "a link"),
    "pipe": (".zip", lambda: special(stat.S_IFIFO | 0o666), "a device or a pipe"),
    "device": (".zip", lambda: special(stat.S_IFCHR | 0o666), "a device or a pipe"),
    "twice": (".zip", lambda: zipped(("lab.py", b"a"), ("lbb.py", b"b")).replace(b"lbb", b"lab"), "for one"),
    "case": (".zip", lambda: zipped(("lab.py", b"a"), ("LAB.py", b"b")), "for one"),
    "composed": (".zip", lambda: zipped(("\u00e9.py", b"a"), ("e\u0301.py", b"b")), "for one"),
    "folder and file": (".zip", lambda: zipped(("lab.py", b"a"), ("lab.py/x", b"b")), "for one"),
    "folders by case": (".zip", lambda: zipped(("A/x.py", b"a"), ("a/y.py", b"b")), "for one"),
    "bomb": (".zip", lambda: zipped(("lab.py", bytes(40 * MiB))), "times its size"),
    "large": (".zip", lambda: zipped(("lab.py", bytes(70 * MiB))), "more than 64 MiB"),
    "overlapping": (".zip", _overlapping, "for one"),
    "locked": (".zip", _locked, "password"),
    "cut": (".zip", lambda: zipped(("lab.py", b"x" * 999))[:-40], "broken"),
    "empty": (".zip", lambda: b"", "empty"),
    "text": (".zip", lambda: b"PK, said the cat", "broken"),
    "checksum": (".zip", _wrong_checksum, "checksum"),
    "larger than it says": (".zip", _larger_than_said, "larger than the archive says"),
    "two names": (".zip", _two_names, "two names"),
    "quoted": (".zip", _quoted, "broken"),
    "many": (".zip", lambda: zipped(*((f"{n}", b"") for n in range(65_600))), "more than 2000 files"),
    "rar": (".rar", lambda: b"Rar!\x1a\x07\x00", "as a .zip"),
    "tar up": (".tar.gz", lambda: tarred(("../lab.py", b"x")), "outside"),
    "tar absolute": (".tgz", lambda: tarred(("/etc/lab.py", b"x")), "no place in the archive"),
    "tar link": (
        ".tar",
        lambda: tarred(member("lab.py", tarfile.SYMTYPE, "/etc/passwd"), mode="w"),
        "a link",
    ),
    "tar hard link": (".tar.gz", lambda: tarred(("a", b"x"), member("b", tarfile.LNKTYPE, "a")), "a link"),
    "tar device": (".tar.gz", lambda: tarred(member("lab.py", tarfile.CHRTYPE)), "a device"),
    "tar pipe": (".tar.xz", lambda: tarred(member("lab.py", tarfile.FIFOTYPE), mode="w:xz"), "a pipe"),
    "tar twice": (".tar.gz", lambda: tarred(("lab.py", b"a"), ("./lab.py", b"b")), "for one"),
    "tar bomb": (".tar.gz", lambda: tarred(("lab.py", bytes(40 * MiB))), "times its size"),
    "tar bomb bz2": (".tar.bz2", lambda: tarred(("lab.py", bytes(40 * MiB)), mode="w:bz2"), "times its size"),
    "tar many": (".tar.gz", lambda: tarred(*((f"{n}", b"") for n in range(2100))), "more than 2000 files"),
    "tar cut": (".tar.gz", lambda: tarred(("lab.py", bytes(range(256)) * 99))[:-30], "broken"),
    "tar sparse": (".tar", _sparse, "as a .zip"),
    "tar long words": (".tar.gz", _long_words, "longer than a name"),
    "tar bytes": (
        ".tar",
        lambda: tarred(("l\udcffb.py", b"x"), mode="w", form=tarfile.GNU_FORMAT),
        "letters",
    ),
    "tar text": (".tar", lambda: b"x" * 2000, "broken"),
}
"""By name: the suffix, the bytes, and what the learner is told."""


def write(folder: Path, name: str) -> Path:
    suffix, make, _ = HOSTILE[name]
    path = folder / f"work{suffix}"
    path.write_bytes(make())
    return path
