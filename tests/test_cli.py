"""The command line as its user meets it: a fresh process, exit codes, sentences in place of tracebacks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SHARDLAB = Path(sys.executable).with_name("shardlab")


def _run(*words: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SHARDLAB, *words], cwd=cwd, capture_output=True, text=True, check=False)


def test_alone_it_says_what_there_is(root: Path) -> None:
    ran = _run("--help", cwd=root)
    assert ran.returncode == 0
    assert all(verb in ran.stdout for verb in ("start", "check", "hint", "grade", "build", "verify"))


def test_start_makes_a_working_copy_and_says_what_next(root: Path, tmp_path: Path) -> None:
    ran = _run("start", tmp_path / "mine", cwd=root)
    assert ran.returncode == 0, ran.stderr
    assert "jupyter lab" in ran.stdout
    assert (tmp_path / "mine/level-1/level-1.ipynb").is_file()


def test_an_unknown_verb_is_wrong_use(root: Path) -> None:
    assert _run("grde", cwd=root).returncode == 2


def test_a_broken_course_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text('title = "x"\n[limits]\ncell_seconds = "long"\n')
    ran = _run("build", "--check", cwd=tmp_path)
    assert ran.returncode == 2
    assert f"{tmp_path / 'course.toml'}:3: limits.cell_seconds" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_nothing_handed_in_is_said(root: Path, tmp_path: Path) -> None:
    for name in ("course.toml", "quizbank", "gpu_labs", "solutions"):
        (tmp_path / name).symlink_to(root / name)
    ran = _run("grade", "--course", tmp_path, cwd=tmp_path)
    assert ran.returncode == 2
    assert "nothing is handed in below" in ran.stdout


def test_an_unknown_assignment_names_those_there_are(root: Path, tmp_path: Path) -> None:
    for name in ("course.toml", "quizbank", "gpu_labs", "solutions"):
        (tmp_path / name).symlink_to(root / name)
    ran = _run("grade", "--course", tmp_path, "--assignment", "level-99", cwd=tmp_path)
    assert ran.returncode == 2
    assert "level-1" in ran.stderr and "Traceback" not in ran.stderr
