"""A job's id says which bytes meet which key, and nothing a learner puts into a folder stops it being made."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import msgspec
import pytest

from autograder.content import Course
from autograder.engine import job as jobs
from autograder.engine.job import Job


def _make(course: Course, folder: Path, **more: str) -> Job:
    return jobs.make(course, course.assignment("level-1"), "ada", folder, sandboxed=True, run="r", **more)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "submitted/ada/level-1"
    made.mkdir(parents=True)
    (made / "level-1.ipynb").write_text("{}")
    return made


def test_the_id_changes_with_bytes_names_and_key_and_with_nothing_else(course: Course, folder: Path) -> None:
    first = _make(course, folder)
    assert first == _make(course, folder) and first.id.isalnum()
    os.utime(folder / "level-1.ipynb", (1, 1))
    assert _make(course, folder).id == first.id, "a copy of the same bytes is the same hand-in"
    seen = {first.id}
    (folder / "level-1.ipynb").write_text("{ }")
    seen.add(_make(course, folder).id)
    (folder / "data.csv").write_text("1")
    seen.add(_make(course, folder).id)
    (folder / "data.csv").rename(folder / "data2.csv")
    seen.add(_make(course, folder).id)
    harder = msgspec.structs.replace(course, limits=msgspec.structs.replace(course.limits, cell_seconds=1.0))
    seen.add(_make(harder, folder).id)
    seen.add(_make(course, folder, device="cuda").id)
    assert len(seen) == 6


def test_a_job_comes_back_from_json_as_it_was(course: Course, folder: Path) -> None:
    made = _make(course, folder)
    assert msgspec.json.decode(msgspec.json.encode(made), type=Job) == made


def test_what_lies_in_a_folder_never_stops_a_job(course: Course, folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to("/dev/zero")
    (folder / "loop").symlink_to(folder)
    (folder / os.fsdecode(b"\xff\n")).write_text("x")
    deep = os.open(folder, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=deep)
        below = os.open("d", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = below
    os.close(deep)
    try:
        first = _make(course, folder)
        assert first.id == _make(course, folder).id
        (folder / "pipe").unlink()
        assert _make(course, folder).id != first.id
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)  # shutil goes down by recursion
    assert _make(course, folder / "not there").needs == first.needs


def test_what_is_too_large_to_read_counts_by_its_size(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "READ_MOST", 4)
    (folder / "big").write_bytes(b"12345")
    first = jobs.folder_digest(folder)
    (folder / "big").write_bytes(b"123456")
    assert jobs.folder_digest(folder) != first


def test_needs_are_those_of_the_course(course: Course) -> None:
    notebook = jobs.needs(course, course.assignment("level-1"))
    assert (notebook.ranks, notebook.cores, notebook.gpus) == (1, 1, 0)
    assert notebook.memory_mib == course.limits.memory_mib
    lab = course.assignment("lab-ring_collectives")
    on_cpu, on_cuda = jobs.needs(course, lab), jobs.needs(course, lab, "cuda")
    assert on_cpu.ranks == 5 and on_cpu.gpus == 0 and on_cuda.gpus == 5
    assert on_cpu.memory_mib == 5 * course.labs["ring_collectives"].limits.reserve_mib
    assert jobs.needs(course, course.assignment("level-1"), "cuda").gpus == 0
