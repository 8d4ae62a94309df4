"""Reads the hostile hand-ins of this folder. A file holds one; its first lines say what it must get:

    # expect: ring_all_gather=failed:is_wrong_in      every part, its status, and words its reason must hold
    # control: right_scratch                          the honest hand-in that comes nearest (default: right_plain)
    # seconds: 3                                      the time limit of a case or cell, where it must be a short one
    # groups                                          what must end it is a control group, where one may be had
    # soak                                            heavy: only where soak tests are asked for

What lies where:
- `labs/`      a lab.py; `parts/ring.py`, an honest ring, stands above it
- `around/`    a lab.py that passes data from rank to rank past the switch: it defines tell() and hear(), and
               `parts/around.py` above it makes a ring out of them that earns full marks if they work
- `figures/`   the same through a figure of the whole machine, with `parts/figures.py`
- `reach/`     code that tries to reach what it must not, handed in twice: as a lab and as a notebook; it must find
               everything shut (`passed`)
- `notebooks/` cells: `# %% ans-0-2` replaces an answer, `# %% before ans-0-1` adds a cell above one
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from autograder.content import Course
from autograder.verdict import PartStatus
from tests.notebooks import tiny

HERE = Path(__file__).parent
NOTEBOOK_PARTS = ("0.1/size", "0.1/area", "0.2/pick")
LAB_PART = "ring_all_gather"
_LINE = re.compile(r"^# (expect|control|seconds|groups|soak)(?:: (.+))?$")
_ONE = re.compile(r"^([^=\s]+)=([a-z]+)(?::(\S+))?$")


@dataclass(frozen=True)
class HandIn:
    """One hand-in and what it must get: part → (status, words of the reason or the mistake it names)."""

    name: str
    kind: str  # "lab" or "notebook"
    text: str
    expected: dict[str, tuple[PartStatus, str]]
    control: str
    seconds: float | None
    groups: bool
    soak: bool

    @property
    def honest(self) -> bool:
        return self.name.split("/")[-1].startswith("right_")


def everything() -> list[HandIn]:
    """All hand-ins, by name."""
    found = [*_labs(), *_reaching(), *_notebooks()]
    return sorted(found, key=lambda handin: handin.name)


def _labs() -> list[HandIn]:
    above = {"labs": "ring.py", "around": "around.py", "figures": "figures.py"}
    return [
        _read(path, f"lab/{folder}/{path.stem}", "lab", (HERE / "parts" / part).read_text())
        for folder, part in above.items()
        for path in sorted((HERE / folder).glob("*.py"))
    ]


def _reaching() -> list[HandIn]:
    made = []
    for path in sorted((HERE / "reach").glob("*.py")):
        ring = (HERE / "parts/ring.py").read_text()
        answer = "\n\ndef ring_all_gather(shard, group):\n    refused(worked('lab'))\n    return ring(shard, group)\n"
        shut = (HERE / "parts/shut.py").read_text()
        lab = _read(path, f"lab/reach/{path.stem}", "lab", ring + shut)
        cell = f"# %% ans-0-2\n{shut}\n{path.read_text()}\nrefused(worked('notebook'))\npick = 'b'\n"
        expected = {part: (PartStatus.PASSED, "") for part in NOTEBOOK_PARTS}
        made.append(_replace(lab, text=lab.text + answer))
        made.append(
            _replace(lab, name=f"notebook/reach/{path.stem}", kind="notebook", text=cell, expected=expected)
        )
    return made


def _notebooks() -> list[HandIn]:
    return [
        _read(path, f"notebook/{path.stem}", "notebook", "")
        for path in sorted((HERE / "notebooks").glob("*.py"))
    ]


def _replace(handin: HandIn, **changes: object) -> HandIn:
    return HandIn(**{**handin.__dict__, **changes})  # type: ignore[arg-type]


def _read(path: Path, name: str, kind: str, above: str) -> HandIn:
    text = path.read_text(encoding="utf-8")
    said: dict[str, str] = {}
    for line in text.splitlines():
        match = _LINE.match(line)
        if not match:
            break
        said[match.group(1)] = match.group(2) or ""
    if "expect" not in said:
        raise ValueError(f"{path}:1: starts with `# expect: PART=STATUS[:words_of_the_reason] …`")
    expected = {}
    for word in said["expect"].split():
        one = _ONE.match(word)
        if not one:
            raise ValueError(f"{path}:1: {word!r} is not PART=STATUS[:words_of_the_reason]")
        expected[one.group(1)] = (PartStatus(one.group(2)), (one.group(3) or "").replace("_", " "))
    if set(expected) != set((LAB_PART,) if kind == "lab" else NOTEBOOK_PARTS):
        raise ValueError(f"{path}:1: names {sorted(expected)}")
    return HandIn(
        name=name,
        kind=kind,
        text=f"{above}\n\n{text}",
        expected=expected,
        control=said.get("control", "right_plain"),
        seconds=float(said["seconds"]) if "seconds" in said else None,
        groups="groups" in said,
        soak="soak" in said,
    )


def notebook(course: Course, text: str) -> NotebookNode:
    """The released notebook with right answers, changed as the cells in `text` say."""
    made = tiny.filled(course)
    for piece in re.split(r"^# %% ", text, flags=re.MULTILINE)[1:]:
        head, _, source = piece.partition("\n")
        place = head.split()[-1]
        if head.startswith("before "):
            made.cells.insert(tiny.at(made, place), nbformat.v4.new_code_cell(source.strip()))
        else:
            made.cells[tiny.at(made, place)].source = source.strip()
    return made
