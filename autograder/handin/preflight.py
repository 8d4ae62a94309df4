"""Reads whatever was handed in for a notebook assignment, and never raises on it.

Gives a canonical notebook (locked cells ours, found by grade id; the learner's answers and own cells as they stood)
with notes of what was repaired, or says why there is nothing to grade.
"""

from __future__ import annotations

import codecs
import hashlib
import itertools
import json
import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.handin import inert, repair
from autograder.handin.source import Source

MiB = 1 << 20
LARGEST = 64 * MiB
"""The largest notebook file that is read."""

TEXT_MOST = 400_000
"""Characters all cells of a notebook may have: what is shown to graders is coloured and rendered, slowly."""

FILES_LARGEST = 32 * MiB
FILES_MOST = 500
LOOKED_MOST = 10_000
"""Files and folders beside a notebook that are looked at."""
DEPTH_MOST = 16
NOTES_MOST = 50
_NOT_SHOWN = ("instant.json", "timestamp.txt", "submission_secret.txt")
_ADVISORY = ("attempts.jsonl",)


@dataclass(frozen=True)
class Prepared:
    """`notebook` can always be written and shown. `problem` says why it cannot be graded, empty when it can;
    `absent` is true when nothing was handed in, `alone` when files were, without a notebook. `digest` is the SHA-256
    of the notebook file as handed in.
    """

    notebook: NotebookNode
    notes: tuple[str, ...] = ()
    problem: str = ""
    absent: bool = False
    alone: bool = False
    digest: str = ""


class Unreadable(ValueError):
    """A file is no notebook; the message says why, for the learner and the grader."""


class NoNotebook(Unreadable):
    """Something was handed in, and no notebook among it."""


def prepare(folder: Path, source: Source) -> Prepared:
    """What was handed in in `folder` for `source`. Never raises on what lies there."""
    notes: list[str] = []
    try:
        path = _choose(folder, source, notes)
        if path is None:
            return placeholder(source, "nothing was handed in", absent=True)
        content = read_file(path)
        handed_in = parse(content)
    except NoNotebook as problem:
        return replace(placeholder(source, str(problem), notes=tuple(notes)), alone=True)
    except Unreadable as problem:
        return placeholder(source, str(problem), notes=tuple(notes), digest=_digest_of(folder, source))
    except OSError as error:
        return placeholder(source, f"the hand-in cannot be read: {error.strerror}", notes=tuple(notes))
    notebook, repairs = repair.canonical(handed_in, source)
    return Prepared(notebook, (*notes, *repairs), digest=hashlib.sha256(content).hexdigest())


def placeholder(
    source: Source, problem: str, *, absent: bool = False, notes: tuple[str, ...] = (), digest: str = ""
) -> Prepared:
    """The released notebook with a banner that says why there is nothing to grade."""
    notebook, _ = repair.canonical({"cells": []}, source)
    banner = new_markdown_cell(f"**Not graded:** {inert.markdown(problem)}")
    banner["id"] = "handin-banner"
    notebook.cells.insert(0, banner)
    return Prepared(notebook, notes, problem, absent, digest=digest)


def nothing() -> NotebookNode:
    """A notebook without cells, for an assignment whose own notebook cannot be read."""
    made: NotebookNode = new_notebook()
    return made


def parse(content: bytes) -> dict[str, Any]:
    """The notebook in `content`, as plain JSON of format 4. Raises Unreadable."""
    if not content.strip():
        raise Unreadable("the file is empty")
    try:
        text = _decode(content)
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(
            f"the file is not JSON ({str(error)[:120]}); a notebook is saved by Jupyter"
        ) from None
    if not isinstance(found, dict):
        raise Unreadable("the file is JSON, but no notebook")
    if isinstance(found.get("worksheets"), list):
        found = _from_old(found)
    if not isinstance(found.get("cells"), list):
        raise Unreadable("the file is JSON, but no notebook: it has no cells")
    if repair.length(found["cells"]) > TEXT_MOST:
        raise Unreadable(
            f"the cells hold more than {TEXT_MOST} characters: data belongs in a file beside the notebook"
        )
    notebook: dict[str, Any] = found
    return notebook


def copy_files(folder: Path, target: Path) -> list[str]:
    """Copies what a hand-in holds beside its notebook into `target`, for the box: regular files only, bounded; no
    notebooks, no instant answers, nothing hidden. Returns notes of what was left out.
    """
    room, count = FILES_LARGEST, 0
    notes: list[str] = []
    for path, problem in walk(folder, skipped=(".", "__pycache__"), most=LOOKED_MOST):
        name, way = path.name, path.relative_to(folder)
        if problem:
            notes.append(f"folder {repair.plain(str(way))} was left out: {problem}")
            continue
        if path.is_dir() and not path.is_symlink():
            continue
        if name.startswith(".") or name in _NOT_SHOWN or name.endswith(".ipynb"):
            continue
        try:
            found = path.lstat()
            if not stat.S_ISREG(found.st_mode) or found.st_size > room or count >= FILES_MOST:
                raise Unreadable("a link, or too much")
            (target / way).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / way, follow_symlinks=False)
        except (OSError, Unreadable) as error:
            why = error.strerror if isinstance(error, OSError) else error
            notes.append(f"file {repair.plain(str(way))} was left out: {why}")
        else:
            room, count = room - found.st_size, count + 1
    more = len(notes) - NOTES_MOST
    return [*notes[:NOTES_MOST], f"{more} more files or folders were left out"] if more > 0 else notes


def walk(folder: Path, *, skipped: tuple[str, ...] = (), most: int = 1 << 40) -> Iterator[tuple[Path, str]]:
    """Files and folders below `folder`, each with a reason where it is a folder that was not looked into: it cannot be
    read, lies too deep, or `most` entries were looked at before. `skipped` folders begin with one of these. Does not
    follow links, nor recurse, as os.walk and Path.rglob do, as deep as somebody nested folders.
    """
    waiting = [folder]
    looked = 0
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(here) as found:
                entries = sorted(itertools.islice(found, most - looked + 1), key=lambda entry: entry.name)
        except OSError as error:
            yield here, str(error.strerror)
            continue
        looked += len(entries)
        if looked > most:
            yield here, "too many files here and above"
            return
        below = []
        for entry in entries:
            path = here / entry.name
            if not entry.is_dir(follow_symlinks=False):
                yield path, ""
            elif not entry.name.startswith(skipped):
                if len(path.relative_to(folder).parts) > DEPTH_MOST:
                    yield path, "nested too deep"
                else:
                    yield path, ""
                    below.append(path)
        waiting += reversed(below)


def _choose(folder: Path, source: Source, notes: list[str]) -> Path | None:
    """The notebook of this hand-in that counts; None when nothing was handed in."""
    wanted = folder / f"{source.name}.ipynb"
    if not folder.is_dir():
        return None
    others = sorted(p for p in folder.glob("*.ipynb") if p != wanted)
    if os.path.lexists(wanted):
        notes += [f"{repair.plain(p.name)} was ignored: {wanted.name} counts" for p in others]
        return wanted
    ours = [path for path in others if _holds_our_cells(path, source)]
    chosen = ours if ours else others
    if len(chosen) == 1:
        notes.append(f"{repair.plain(chosen[0].name)} was graded as {wanted.name}")
        return chosen[0]
    if chosen:
        names = ", ".join(repair.plain(p.name) for p in chosen)
        raise Unreadable(f"several notebooks, and none is called {wanted.name}: {names}")
    rest = [p.name for p in folder.iterdir() if p.name not in _NOT_SHOWN and not p.name.startswith(".")]
    rest = [name for name in rest if name not in _ADVISORY]
    if rest:
        names = ", ".join(repair.plain(name) for name in sorted(rest)[:8])
        raise NoNotebook(f"no notebook {wanted.name} among what was handed in: {names}")
    return None


def _holds_our_cells(path: Path, source: Source) -> bool:
    try:
        return any(repair.grade_id(cell) in source.cells for cell in parse(read_file(path))["cells"])
    except Unreadable:
        return False


def read_file(path: Path) -> bytes:
    """The content of a regular file; links, pipes and giants are not read."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Unreadable(f"{path.name} cannot be opened: {error.strerror}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise Unreadable(f"{path.name} is not a file")
    with os.fdopen(handle, "rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise Unreadable(f"{path.name} is larger than {LARGEST // MiB} MiB")
    return content


def _digest_of(folder: Path, source: Source) -> str:
    try:
        return hashlib.sha256(read_file(folder / f"{source.name}.ipynb")).hexdigest()
    except Unreadable:
        return ""


def _decode(content: bytes) -> str:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16")
    return content.decode("utf-8-sig")


def _from_old(found: dict[str, Any]) -> dict[str, Any]:
    """A notebook of format 3, as Jupyter reads it."""
    try:
        made: dict[str, Any] = dict(nbformat.convert(nbformat.from_dict(found), 4))
    except Exception as error:  # a converter for files Jupyter wrote, fed with whatever was handed in
        raise Unreadable(f"an old notebook that cannot be converted ({type(error).__name__})") from None
    return made
