"""Writes what is built, or checks that what is committed is exactly that; never overwrites a hand edit silently."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from autograder.tomlfile import ContentError

MANIFEST = "solutions/built.json"
"""Path → sha256 of every file as the build last wrote it: what differs from it was edited by hand."""

_OWNED = ("exercises", "solutions/exercises")
_PASSING = ("__pycache__", ".ipynb_checkpoints")


def build(root: Path, made: Mapping[str, bytes], *, force: bool = False) -> list[str]:
    """Writes all built files (`made`: see outputs) below `root` and returns the paths that changed.

    Raises ContentError, before anything is written, when a built file was edited by hand or a file nobody built lies
    among them; `force` overwrites the former.
    """
    before = _manifest(root)
    edited = [
        path
        for path in sorted(before)
        if _digest(root / path) not in (None, before[path], _sha(made.get(path)))
    ]
    if edited and not force:
        raise ContentError(
            f"edited by hand since it was built: {', '.join(edited)}. These files are built: change their source "
            "under solutions/, or run `shardlab build --force` to lose the edit"
        )
    stray = [path for path in _present(root) if path not in made and path not in before]
    if stray:
        raise ContentError(f"not built by anything: {', '.join(stray)}. Move it away, or add its source")
    changed = [path for path in sorted(made) if _digest(root / path) != _sha(made[path])]
    for path in changed:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(made[path])
    gone = sorted(set(before) - set(made))
    for path in gone:
        (root / path).unlink(missing_ok=True)
    text = msgspec.json.encode({path: _sha(made[path]) for path in sorted(made)})
    (root / MANIFEST).write_bytes(msgspec.json.format(text, indent=1) + b"\n")
    return changed + gone


def check(root: Path, made: Mapping[str, bytes]) -> list[str]:
    """What is wrong with the built files as they lie below `root`, one sentence each; nothing when all is `made`."""
    if not made:
        return ["nothing to build: the course has no content"]
    said = []
    for path in sorted(made):
        found = _digest(root / path)
        if found is None:
            said.append(f"{path}: missing; run `shardlab build`")
        elif found != _sha(made[path]):
            said.append(f"{path}: not what its source builds; run `shardlab build` (or undo the hand edit)")
    said += [f"{path}: not built by anything" for path in _present(root) if path not in made]
    if _manifest(root) != {path: _sha(content) for path, content in made.items()}:
        said.append(f"{MANIFEST}: does not list what is built; run `shardlab build`")
    return said


def _present(root: Path) -> Iterator[str]:
    for folder in _OWNED:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and not any(part in _PASSING for part in path.parts):
                yield str(path.relative_to(root))


def _manifest(root: Path) -> dict[str, str]:
    path = root / MANIFEST
    return msgspec.json.decode(path.read_bytes(), type=dict[str, str]) if path.is_file() else {}


def _digest(path: Path) -> str | None:
    return _sha(path.read_bytes()) if path.is_file() else None


def _sha(content: bytes | None) -> str:
    return hashlib.sha256(content).hexdigest() if content is not None else ""
