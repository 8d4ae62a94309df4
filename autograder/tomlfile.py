"""Reads a TOML file into a frozen type; every error names file, line and field.

tomllib gives no line numbers past parsing, so `TomlFile.line` finds the line of a field by walking the headers and
keys of the text. It is only ever used for messages: a wrong line there misleads, it decides nothing.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
Field = tuple[str | int, ...]
"""The way to a field, e.g. ("task", 0, "case", 2, "world")."""

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(#.*)?$")
_KEY = re.compile(r"^\s*([A-Za-z0-9_\-\"'.]+)\s*=")
_WAY = re.compile(r"`\$(.*)`$")
_STEP = re.compile(r"\.([A-Za-z0-9_\-]+)|\[(\d+|\.\.\.)\]")


class ContentError(ValueError):
    """Something in the course's content is wrong: `file:line: field: what and what to do`."""


class TomlFile:
    """One TOML file: its text, its values, and where in the text each field stands."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ContentError(f"{path}: cannot be read: {error}") from error
        try:
            self.values: dict[str, Any] = tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            raise ContentError(f"{path}: not TOML: {error}") from error

    def into(self, kind: type[T]) -> T:
        """The values as `kind` (a msgspec Struct). Raises ContentError naming line and field."""
        try:
            return msgspec.convert(self.values, kind)
        except msgspec.ValidationError as error:
            what, _, at = str(error).partition(" - at ")
            raise self.error(_parse_way(at), what) from error

    def error(self, field: Field, what: str) -> ContentError:
        """A ContentError that points at `field` of this file."""
        name = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in field).lstrip(".")
        return ContentError(f"{self.path}:{self.line(field)}: {name or 'file'}: {what}")

    def line(self, field: Field) -> int:
        """The 1-based line of `field`, or of the nearest table or key that holds it."""
        best, found = 0, 1
        for number, way in _walk(self.text):
            if len(way) > best and field[: len(way)] == way:
                best, found = len(way), number
        return found


def _parse_way(at: str) -> Field:
    match = _WAY.search(at)
    steps: list[str | int] = []
    for name, index in _STEP.findall(match.group(1) if match else ""):
        steps.append(name or (int(index) if index.isdigit() else 0))
    return tuple(steps)


def _walk(text: str) -> list[tuple[int, Field]]:
    """Every header and key of a TOML text with its line, arrays of tables numbered as they come."""
    table: Field = ()
    counts: dict[Field, int] = {}
    found: list[tuple[int, Field]] = []
    quote = ""
    for number, line in enumerate(text.splitlines(), 1):
        if quote:
            if line.count(quote) % 2:
                quote = ""
            continue
        if match := _HEADER.match(line):
            table = _table(match.group(1) == "[[", match.group(2).split("."), counts)
            found.append((number, table))
        elif match := _KEY.match(line):
            key = tuple(part.strip("\"' ") for part in match.group(1).split("."))
            found.append((number, table + key))
            for mark in ('"""', "'''"):
                if line.count(mark) % 2:
                    quote = mark
    return found


def _table(is_array: bool, names: list[str], counts: dict[Field, int]) -> Field:
    way: Field = ()
    for depth, raw in enumerate(names):
        way = (*way, raw.strip().strip("\"'"))
        if depth == len(names) - 1 and is_array:
            counts[way] = counts.get(way, -1) + 1
        if way in counts:
            way = (*way, counts[way])
    return way
