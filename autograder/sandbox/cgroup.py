"""Control groups, version 1 or 2: bounds on what the processes of one hand-in take together.

Limits a process puts on itself (learner/box/limits.py) bind each process; memory in many processes or in files of a
tmpfs, and the number of processes of a grader that is root, only a control group bounds. Where none may be made the
others still hold, and `Groups.why` says what is missing.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import time
from dataclasses import dataclass
from pathlib import Path

from autograder.sandbox.unavailable import BoxFailed

_MOUNTS = Path("/sys/fs/cgroup")
_CONTROLLERS = ("memory", "pids", "cpu")
_OURS = "shardlab-judge"
_numbers = itertools.count()


@dataclass(frozen=True)
class Groups:
    """Where this process may make groups: for each controller the folder of its own group. `version` is 1, 2, or 0
    where there is nothing, and then `why` says why. In version 2 all folders are the same.
    """

    version: int
    parents: dict[str, Path]
    why: str = ""

    def make(self, memory_bytes: int, processes: int) -> Group:
        """A new group whose members together have at most so much memory and so many processes and threads."""
        made = Group(self.version, {})
        name = f"shardlab-{os.getpid()}-{next(_numbers)}"
        try:
            for controller, parent in self.parents.items():
                folder = parent / name
                folder.mkdir(exist_ok=True)
                made.folders[controller] = folder
            _limit(made, memory_bytes, processes)
        except OSError as error:
            made.remove()
            raise BoxFailed(f"no control group could be made: {error}") from error
        return made


@dataclass(frozen=True)
class Group:
    """The group of one hand-in's processes."""

    version: int
    folders: dict[str, Path]

    def take(self, pid: int) -> None:
        """Puts a process, and all it will start, into the group."""
        for folder in set(self.folders.values()):
            (folder / "cgroup.procs").write_text(str(pid))

    def out_of_memory(self) -> int:
        """How many processes of the group the kernel has ended for want of memory."""
        folder = self.folders.get("memory")
        if folder is None:
            return 0
        events = folder / ("memory.events" if self.version == 2 else "memory.oom_control")
        found = re.search(r"^oom_kill (\d+)$", events.read_text(), re.MULTILINE)
        return int(found[1]) if found else 0

    def remove(self) -> None:
        """Takes the group away once it is empty; the kernel needs a moment after the last process."""
        for folder in set(self.folders.values()):
            for _ in range(200):
                try:
                    folder.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.01)


def _limit(group: Group, memory_bytes: int, processes: int) -> None:
    folders = group.folders
    if group.version == 2:
        if "memory" in folders:
            (folders["memory"] / "memory.max").write_text(str(memory_bytes))
            _if_there(folders["memory"] / "memory.swap.max", "0")
            _if_there(folders["memory"] / "memory.oom.group", "0")
        if "pids" in folders:
            (folders["pids"] / "pids.max").write_text(str(processes))
    else:
        if "memory" in folders:
            (folders["memory"] / "memory.limit_in_bytes").write_text(str(memory_bytes))
            _if_there(folders["memory"] / "memory.memsw.limit_in_bytes", str(memory_bytes))
        if "pids" in folders:
            (folders["pids"] / "pids.max").write_text(str(processes))
    # A group has the same share of the processors as any other, however many threads are in it: that is all we want.


def _if_there(path: Path, value: str) -> None:
    """Kernels without swap accounting have no such file."""
    if path.exists():
        with contextlib.suppress(PermissionError):
            path.write_text(value)


@functools.cache
def find() -> Groups:
    """The groups this process may make, found by making one."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError as error:
        return Groups(0, {}, f"/proc/self/cgroup cannot be read: {error.strerror}")
    own = {names: path for _, names, path in (line.split(":", 2) for line in lines)}
    found = _version_1(own)
    if found.parents:
        return found
    return _version_2(own[""]) if "" in own else found


def _version_1(own: dict[str, str]) -> Groups:
    parents = {}
    why = "no control groups of version 1"
    for names, path in own.items():
        for controller in set(names.split(",")) & set(_CONTROLLERS):
            folder = _MOUNTS / controller / path.lstrip("/")
            problem = _tried(folder)
            if problem:
                why = problem
            else:
                parents[controller] = folder
    return Groups(1, parents, "" if parents else why) if parents else Groups(0, {}, why)


def _version_2(path: str) -> Groups:
    for root in (_MOUNTS, _MOUNTS / "unified"):
        folder = root / path.lstrip("/")
        if folder.name == _OURS:
            folder = folder.parent
        if not (folder / "cgroup.controllers").exists():
            continue
        problem = _tried(folder) or _delegate(folder)
        if problem:
            return Groups(0, {}, problem)
        on = (folder / "cgroup.subtree_control").read_text().split()
        parents = {name: folder for name in _CONTROLLERS if name in on}
        if parents:
            return Groups(2, parents)
        return Groups(0, {}, f"no controller of {folder} may be passed on")
    return Groups(0, {}, "no control groups of version 2")


def _delegate(folder: Path) -> str:
    """Lets groups below `folder` have the controllers it has. A group with processes of its own may not (but for the
    topmost), so where we are alone in it we go down a step ourselves.
    """
    has = (folder / "cgroup.controllers").read_text().split()
    control = folder / "cgroup.subtree_control"
    on = control.read_text().split()
    wanted = " ".join(f"+{name}" for name in _CONTROLLERS if name in has and name not in on)
    if not wanted:
        return ""
    try:
        control.write_text(wanted)
    except OSError:
        below = folder / _OURS
        try:
            below.mkdir(exist_ok=True)
            (below / "cgroup.procs").write_text(str(os.getpid()))
            control.write_text(wanted)
        except OSError as error:
            return f"{folder} has other processes in it ({error.strerror}); start the grader in a scope of its own"
    return ""


def _tried(folder: Path) -> str:
    """Why no group can be made in `folder`; empty when one can. Takes away what graders left that were killed."""
    for left in sorted(folder.glob("shardlab-[0-9]*-*")):
        if not Path("/proc", left.name.split("-")[1]).exists():
            with contextlib.suppress(OSError):
                left.rmdir()
    trial = folder / f"shardlab-{os.getpid()}-trial"
    try:
        trial.mkdir()
        trial.rmdir()
    except OSError as error:
        return f"no group can be made in {folder}: {error.strerror}"
    return ""
