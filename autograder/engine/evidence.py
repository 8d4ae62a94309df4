"""What every verdict says of how it came about, so that it can be checked, and run again."""

from __future__ import annotations

import functools
import hashlib
import json
import platform
import subprocess
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import msgspec

from autograder.content import Assignment, Course
from autograder.handin import digest
from autograder.sandbox import bwrap
from autograder.sandbox.unavailable import SandboxUnavailable

SEED_BYTES = 16


def of(
    course: Course,
    assignment: Assignment,
    *,
    seed: bytes | None = None,
    folder: Path | None = None,
    switch: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The evidence of one verdict: `versions` of what it was made with, `limits` in force, and, where something ran,
    `seed` in hexadecimal with its `commitment` (its SHA-256, which can be told to anybody; the seed is for graders),
    `files`, a hash of all that was handed in, and `switch`, a hash of what the ranks called in every case.
    """
    made: dict[str, Any] = {"versions": versions(), "limits": limits(course, assignment)}
    if seed is not None:
        made |= {"seed": seed.hex(), "commitment": commitment(seed)}
    if folder is not None:
        made["files"] = digest.of_folder(folder)
    if switch:
        made["switch"] = hashlib.sha256(json.dumps(dict(switch), sort_keys=True).encode()).hexdigest()
    return made


def commitment(seed: bytes) -> str:
    """What may be said of a seed without telling it."""
    return hashlib.sha256(seed).hexdigest()


def versions() -> dict[str, str]:
    """What can change a verdict though course and hand-in are the same; empty for what is not installed."""
    return {
        "shardlab": _installed("shardlab"),
        "python": platform.python_version(),
        "numpy": _installed("numpy"),
        "torch": _installed("torch"),
        "kernel": f"{platform.system()} {platform.release()}",
        "bwrap": _bwrap(),
    }


def limits(course: Course, assignment: Assignment) -> dict[str, Any]:
    """The limits course.toml or lab.toml sets for this assignment, by their names there. For a lab with those that
    tasks set for a case of their own.
    """
    if assignment.lab is None:
        return dict(msgspec.to_builtins(course.limits))
    lab = course.labs[assignment.lab]
    made = dict(msgspec.to_builtins(lab.limits))
    for task in lab.tasks:
        for number, case in enumerate(task.cases):
            own = {"seconds": case.seconds, "memory_mib": case.memory_mib}
            made |= {f"{task.id}/{number}/{name}": value for name, value in own.items() if value is not None}
    return made


@functools.cache
def _installed(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


@functools.cache
def _bwrap() -> str:
    try:
        ran = subprocess.run(
            [str(bwrap.find()), "--version"], capture_output=True, text=True, check=True, timeout=60
        )
    except (SandboxUnavailable, OSError, subprocess.SubprocessError):
        return ""
    return ran.stdout.strip().removeprefix("bubblewrap ")
