"""Runs a command as another user: `python as_user.py UID FOLDER… -- COMMAND…`, started by root.

The user gets no groups. Where it could not reach a FOLDER (a checkout in somebody's home, say), the folder is shown to
it at its place, read-only, in a mount namespace of the command's own.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

CLONE_NEWNS = 0x20000
MS_RDONLY, MS_NOSUID, MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 1, 2, 32, 4096, 16384, 1 << 18
_libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Becomes the user, and then the command."""
    cut = sys.argv.index("--")
    uid, folders, command = int(sys.argv[1]), [Path(f) for f in sys.argv[2:cut]], sys.argv[cut + 1 :]
    hidden = [folder for folder in folders if _closed(folder)]
    if hidden:
        _check(_libc.unshare(CLONE_NEWNS))
        _mount("none", "/", MS_REC | MS_PRIVATE)
        _show(hidden)
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)
    os.execvp(command[0], command)


def _closed(folder: Path) -> Path | None:
    """The outermost folder on the way to `folder` that others may not enter; None where all are open."""
    way = [*reversed(folder.parents), folder]
    return next((place for place in way if not place.stat().st_mode & 0o001), None)


def _show(folders: list[Path]) -> None:
    held = [(folder, os.open(folder, os.O_PATH)) for folder in folders]
    covers = {cover for folder in folders if (cover := _closed(folder)) is not None}
    for cover in sorted(covers):
        if cover in folders:
            raise SystemExit(f"{cover} itself is closed to others: chmod a+rx it, or test as root only")
        _mount("none", str(cover), MS_NOSUID, "tmpfs", "mode=755")
    for folder, handle in held:
        folder.mkdir(parents=True, exist_ok=True)
        _mount(f"/proc/self/fd/{handle}", str(folder), MS_BIND | MS_REC)
        _mount("none", str(folder), MS_BIND | MS_REMOUNT | MS_RDONLY)
        os.close(handle)


def _mount(what: str, where: str, flags: int, kind: str = "none", options: str = "") -> None:
    _check(_libc.mount(what.encode(), where.encode(), kind.encode(), flags, options.encode()))


def _check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


if __name__ == "__main__":
    main()
