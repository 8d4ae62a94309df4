"""The course the hostile hand-ins are made for: the tiny notebook, and the ring lab with two short cases."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from autograder import course
from autograder.content import Course
from tests.notebooks import tiny

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK, LAB = "level-0", "lab-ring_collectives"

_LAB_TOML = """
title = "Ring collectives"
level = 2
summary = "All-gather, in two short cases."

[limits]
seconds = 60.0
memory_mib = 512

[[task]]
id = "ring_all_gather"
title = "All-gather on a ring"
points = 3.0
hints = ["none"]

[[task.case]]
world = 2
calls = ["send", "recv"]
hold = true
given = { shape = [4], dtype = "float32" }

[[task.case]]
world = 3
calls = ["send", "recv"]
hold = true
scramble = true
given = { shape = [4], dtype = "int64" }

"""


def lay_out(root: Path) -> Course:
    """The course in the new folder `root`."""
    tiny.lay_out(root)
    for place in (
        "gpu_labs/ring_collectives",
        "solutions/gpu_labs/ring_collectives",
        f"solutions/exercises/{LAB}",
        f"exercises/{LAB}",
    ):
        shutil.copytree(ROOT / place, root / place)
    toml = root / "gpu_labs/ring_collectives/lab.toml"
    mistakes = toml.read_text(encoding="utf-8").partition("[[mistake]]")
    toml.write_text(_LAB_TOML + "".join(mistakes[1:]), encoding="utf-8")
    head = root / "course.toml"
    # What is slow is not wrong here: only hand-ins that ask for it get a short limit.
    text = re.sub(r"(cell|function)_seconds = .*", r"\1_seconds = 60.0", head.read_text())
    text = re.sub(r"notebook_seconds = .*", "notebook_seconds = 240.0", text)
    head.write_text(re.sub(r"memory_mib = .*", "memory_mib = 512", text))
    return course.load(root)
