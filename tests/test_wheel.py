"""An installed wheel works outside the checkout and holds no solution."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=root,
        check=True,
        capture_output=True,
    )
    (made,) = folder.glob("*.whl")
    return made


def test_the_wheel_holds_practice_content_and_no_solution(wheel: Path, root: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        texts = {name: archive.read(name) for name in names}
    for content in ("course.toml", "quizbank/misconceptions.toml", "gpu_labs/ring_collectives/run.py"):
        assert f"autograder/content/{content}" in names
    assert "autograder/content/exercises/level-1/level-1.ipynb" in names
    assert {name.split("/")[0] for name in names} == {"autograder", "shardlab-0.1.0.dist-info"}
    assert not [name for name in names if "/content/" in name and ("solution" in name or "attempt" in name)]
    reference = (root / "solutions/gpu_labs/ring_collectives/solution.py").read_bytes()
    assert reference not in texts.values()
    for name, text in texts.items():
        if "/content/" in name:
            assert b"END SOLUTION" not in text and b"END HIDDEN TESTS" not in text, name


def test_an_installed_wheel_starts_a_working_copy(wheel: Path, tmp_path: Path) -> None:
    site = tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    environment = {**os.environ, "PYTHONPATH": str(site)}
    code = "import autograder, sys; print(autograder.__file__); from autograder.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, "start", str(tmp_path / "mine")],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert str(site) in ran.stdout.splitlines()[0]
    mine = tmp_path / "mine"
    assert (mine / "level-1/level-1.ipynb").is_file()
    assert (mine / "level-1/instant.json").is_file()
    assert (mine / "lab-ring_collectives/lab.py").is_file()
    assert not list(mine.rglob("checks.py"))
