"""The first program in a kernel's box: sets limits, lays out the working folder, becomes the kernel.

Runs inside, before any learner code, and is the only file of this room a box shows. Learner code can read it, so it
knows nothing: no key, no score, no path of the course.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import sys
from pathlib import Path
from typing import Any

FILES = 1 << 26  # bytes one file may have


def main() -> None:
    limits = json.loads(os.environ.pop("SHARDLAB_LIMITS"))
    _lay_out(Path(limits["handin"]))
    # Imported before the working folder joins sys.path: a learner's random.py or json.py shadows only their own code.
    import autograder  # noqa: F401  (reads nothing; warms what `submit` needs)

    sys.modules["jedi"] = None  # type: ignore[assignment]  # completion nobody asks for, 0.1 s to import
    from ipykernel.kernelapp import IPKernelApp

    _limit(limits["memory"], limits["processes"])
    app: Any = IPKernelApp.instance()
    app.initialize(["-f", limits["connection"], "--HistoryManager.hist_file=:memory:"])
    sys.path.insert(
        0, ""
    )  # as in a learner's own notebook; only now, so that the kernel itself is up by then
    app.start()


def _lay_out(handin: Path) -> None:
    """Copies the extra files handed in into the working folder, a small tmpfs: private, writable, bounded."""
    for path in sorted(handin.iterdir()) if handin.is_dir() else []:
        if path.is_dir():
            shutil.copytree(path, path.name, symlinks=True, dirs_exist_ok=True)
        else:
            shutil.copyfile(path, path.name)


def _limit(memory: int, processes: int | None) -> None:
    """`memory` bytes of private memory a process. RLIMIT_DATA does not count shared mappings: RLIMIT_AS does, but
    also counts the libraries' address space, hence the room. `processes` counts threads too, within the box (Linux
    5.14 and newer); it binds nobody when the grader is root.
    """
    for what, most in (
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_AS, 2 * memory + (4 << 30)),
        (resource.RLIMIT_FSIZE, FILES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, processes if processes is not None else resource.RLIM_INFINITY),
    ):
        _, hard = resource.getrlimit(what)
        if most == resource.RLIM_INFINITY:
            continue
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (most, most))


if __name__ == "__main__":
    main()
