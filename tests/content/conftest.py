"""The bank and the keys of the notebooks, read from the text sources alone."""

from __future__ import annotations

import re
from dataclasses import dataclass

import msgspec
import pytest
from nbformat import NotebookNode
from prose import ROOT, table

from autograder.build import source
from autograder.content import BankFile, Item, Misconception, MisconceptionFile
from autograder.judge.key import Key, load_key
from autograder.judge.region import split


@dataclass(frozen=True)
class Bank:
    """What of a course a key needs."""

    items: dict[str, Item]
    misconceptions: dict[str, Misconception]


@pytest.fixture(scope="session")
def bank() -> Bank:
    topics = sorted(path.stem for path in (ROOT / "quizbank").glob("*.toml"))
    files = [table(topic) for topic in topics if topic not in ("misconceptions", "corrections")]
    items = [item for file in files for item in msgspec.convert(file, BankFile).item]
    beliefs = msgspec.convert(table("misconceptions"), MisconceptionFile).misconception
    return Bank({item.id: item for item in items}, {belief.id: belief for belief in beliefs})


@pytest.fixture(scope="session")
def notebooks() -> dict[str, NotebookNode]:
    """The level notebooks; the walkthrough, which asks items of the bank too, has tests of its own."""
    paths = sorted((ROOT / "solutions/notebooks").glob("level-*.py"))
    return {path.stem: source.read(path) for path in paths}


@pytest.fixture(scope="session")
def keys(bank: Bank, notebooks: dict[str, NotebookNode]) -> dict[str, Key]:
    """The key of every check cell, by exercise."""
    found = {}
    for name, notebook in notebooks.items():
        for cell in notebook.cells:
            ident = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            if ident.startswith("ex-"):
                exercise = ident.removeprefix("ex-").replace("-", ".")
                points = cell.metadata["nbgrader"]["points"]
                found[exercise] = load_key(exercise, points, split(cell.source)[1], bank, name)
    return found


@pytest.fixture(scope="session")
def steps() -> set[str]:
    """The exercises of the walkthrough, "w.2", and its steps, "step 2"."""
    text = (ROOT / "solutions/notebooks/walkthrough.py").read_text(encoding="utf-8")
    exercises = re.findall(r'^# %% check="(w\.\d)"', text, re.MULTILINE)
    numbers = re.findall(r"^# ## Step (\d) · ", text, re.MULTILINE)
    assert exercises and len(numbers) == 7
    return {*exercises, *(f"step {number}" for number in numbers)}
