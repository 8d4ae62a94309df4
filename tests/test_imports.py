"""Imports run one way: the learner's side knows nothing of the judge, and no room imports in a circle."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "autograder"


def _name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_name(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def _imported(name: str) -> set[str]:
    """The modules of this package that `name` imports anywhere in its text, functions included."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(MODULES[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name}: imports are written in full"
            base = node.module or ""
            found.update(f"{base}.{a.name}" if f"{base}.{a.name}" in MODULES else base for a in node.names)
    return {module for module in found if module.split(".")[0] == "autograder"}


def _room(name: str) -> str:
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and (PACKAGE / parts[1]).is_dir() else name


def test_there_is_something_to_look_at() -> None:
    assert "autograder.learner.client" in MODULES and "autograder.judge.budget" in MODULES
    assert any(_imported(name) for name in MODULES)


@pytest.mark.parametrize("name", [name for name in MODULES if name.startswith("autograder.learner")])
def test_the_learner_side_imports_nothing_of_the_other_rooms(name: str) -> None:
    assert {module for module in _imported(name) if not module.startswith("autograder.learner")} == set()


def test_what_a_notebook_imports_is_of_the_learner_side() -> None:
    assert all(module.startswith("autograder.learner") for module in _imported("autograder"))


def test_no_module_imports_in_a_circle() -> None:
    graph = {name: _imported(name) & set(MODULES) - {name} for name in MODULES}
    tuple(graphlib.TopologicalSorter(graph).static_order())


def test_no_room_imports_in_a_circle() -> None:
    graph: dict[str, set[str]] = {}
    for name in MODULES:
        room = _room(name)
        graph.setdefault(room, set()).update(
            _room(module) for module in _imported(name) if module != "autograder"
        )
        graph[room].discard(room)
    tuple(graphlib.TopologicalSorter(graph).static_order())


def test_the_judge_runs_no_learner_code() -> None:
    """No judge module imports what loads or starts learner code."""
    forbidden = (
        "autograder.sandbox",
        "autograder.engine",
        "autograder.notebooks",
        "autograder.learner.lab.runner",
    )
    for name in MODULES:
        if name.startswith("autograder.judge"):
            assert not any(module.startswith(forbidden) for module in _imported(name)), name


WITHOUT = """
import sys
for name in ("torch", "safetensors", "jupytext"):
    sys.modules[name] = None  # as where they are not installed
import autograder, autograder.cli, autograder.start, autograder.report.grading
from autograder import course
loaded = course.load(course.find_root())
from pathlib import Path
from autograder.engine.notebook import grade_notebook
for name in ("quiz-1", "lab-ring_collectives"):
    one = loaded.assignment(name)
    verdict, _ = grade_notebook(loaded, one, "ada", one.release, sandboxed=True, run="x")
    print(verdict.status, verdict.reason)
"""


def test_notebooks_are_graded_without_torch_and_labs_say_what_to_install(root: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT], cwd=root, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 0, ran.stderr
    quiz, lab = ran.stdout.splitlines()
    assert quiz.strip() == "graded"
    assert lab.startswith("blocked") and "pip install 'shardlab[labs]'" in lab
