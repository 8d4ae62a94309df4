"""Grades hand-ins one after another in a process of its own, and says what each grading left behind.

`python -m tests.attacks.worker COURSE`: one job a line on standard input, {"name", "kind", "folder", "seconds"};
one answer a line on standard output. Run as whatever user grading is to be tried as.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import msgspec
import psutil

from autograder import course as courses
from autograder.content import Course
from autograder.engine.notebook import grade_notebook
from autograder.sandbox import cgroup
from tests.attacks.course import LAB, NOTEBOOK

PR_SET_CHILD_SUBREAPER = 36
SETTLE = 5.0  # seconds within which a box that was ended with a hand-in may be replaced


def main(root: Path) -> None:
    """Serves jobs until standard input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    # What leaves its parent comes to us: nothing that a grading started can hide from `_below`.
    if ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError("cannot adopt orphans")
    course = courses.load(root)
    for line in sys.stdin:
        print(json.dumps(_grade(course, json.loads(line))), file=answers, flush=True)


def _grade(course: Course, job: dict[str, Any]) -> dict[str, Any]:
    before = _state()
    _forget_peak()
    start = time.monotonic()
    assignment = course.assignment(LAB if job["kind"] == "lab" else NOTEBOOK)
    verdict, _ = grade_notebook(
        _limited(course, job["seconds"]), assignment, "ada", Path(job["folder"]), sandboxed=True, run="attack"
    )
    end = time.monotonic()
    return {
        "name": job["name"],
        "status": verdict.status,
        "reason": verdict.reason,
        "parts": {p.id: [p.status, p.reason, p.misconception or ""] for p in verdict.parts},
        "printed": [p.evidence.get("printed", {}) for p in verdict.parts if p.evidence.get("printed")],
        "start": start,
        "end": end,
        "left": _left(before),
        "groups": sorted(cgroup.find().parents),
        "peak_mib": (_memory("VmHWM") - before["memory"]) >> 20,
        "grown_mib": (_memory("VmRSS") - before["memory"]) >> 20,
    }


def _limited(course: Course, seconds: float | None) -> Course:
    if seconds is None:
        return course
    labs = {
        name: msgspec.structs.replace(lab, limits=msgspec.structs.replace(lab.limits, seconds=seconds))
        for name, lab in course.labs.items()
    }
    limits = msgspec.structs.replace(course.limits, cell_seconds=seconds, function_seconds=seconds)
    return msgspec.structs.replace(course, labs=labs, limits=limits)


def _state() -> dict[str, Any]:
    return {
        "memory": _memory("VmRSS"),
        "processes": _below(),
        "files": sorted(path.name for path in Path(tempfile.gettempdir()).iterdir()),
        "open": len(list(Path("/proc/self/fd").iterdir())),
    }


def _left(before: dict[str, Any]) -> list[str]:
    """What there is now and was not before. A box that died with the hand-in may have been replaced by another."""
    end = time.monotonic() + SETTLE
    while True:
        now = _state()
        said = []
        new = {pid: what for pid, what in now["processes"].items() if pid not in before["processes"]}
        if len(now["processes"]) > len(before["processes"]):
            said += [f"process {pid}: {what}" for pid, what in new.items()]
        said += [f"{tempfile.gettempdir()}/{name}" for name in now["files"] if name not in before["files"]]
        if now["open"] > before["open"] + 8:
            said.append(f"{now['open'] - before['open']} open descriptors")
        if not said or time.monotonic() > end:
            return said
        time.sleep(0.05)


def _below() -> dict[int, str]:
    found = {}
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess):
            if process.status() != psutil.STATUS_ZOMBIE:
                found[process.pid] = " ".join(process.cmdline())[:200] or process.name()
    return found


def _memory(what: str) -> int:
    """Bytes, of VmRSS or VmHWM."""
    match = re.search(rf"^{what}:\s+(\d+) kB", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert match
    return int(match.group(1)) << 10


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
