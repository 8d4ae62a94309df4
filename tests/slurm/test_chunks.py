"""How jobs are cut into chunks, what a chunk asks for, and what it takes of an allocation: without a Slurm."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder import course as courses
from autograder.content import Slurm
from autograder.engine.chunk import allocated
from autograder.engine.job import Job, Needs
from autograder.engine.schedule import Gpu
from autograder.engine.slurm import chunks
from autograder.tomlfile import ContentError


def _job(number: int, gpus: int = 0, seconds: float = 100.0) -> Job:
    needs = Needs(gpus=gpus, memory_mib=1000, seconds=seconds)
    same = {"student": "ada", "folder": "f", "root": "r", "digest": "d", "assignment": "a", "run": "run"}
    return Job(id=f"j{number}", needs=needs, handed_in=float(number), sandboxed=True, **same)


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(1, 3000))), st.integers(1, 5), st.integers(1, 60))
def test_every_job_is_in_one_chunk_within_the_bounds(
    wishes: list[tuple[int, float]], most: int, minutes: int
) -> None:
    how = Slurm(chunk_jobs=most, chunk_minutes=minutes, cores=2)
    todo = [_job(number, *wish) for number, wish in enumerate(wishes)]
    cut = chunks.cut(todo, how)
    assert sorted(job.id for piece in cut for job in piece) == sorted(job.id for job in todo)
    for piece in cut:
        assert 1 <= len(piece) <= most and len({job.needs.gpus for job in piece}) == 1
        at_once = 1 if piece[0].needs.gpus else 2
        rounds = -(-len(piece) // at_once)
        assert len(piece) == 1 or rounds * max(job.needs.seconds for job in piece) <= 60 * minutes


def test_a_chunk_is_found_again_as_it_was_written(tmp_path: Path) -> None:
    how = Slurm(partition="gpu", account="c1", gpu_type="h100", extra=("--constraint=x",), cores=2)
    chunk = chunks.write(tmp_path, [_job(1, 2), _job(2, 2)], how, number=3)
    text = (chunk.folder / "job.sh").read_text()
    for option in (
        "partition=gpu",
        "account=c1",
        "gres=gpu:h100:2",
        "constraint=x",
        "mem=2024M",
        "no-requeue",
    ):
        assert f"#SBATCH --{option}" in text
    (found,) = chunks.found(tmp_path)
    assert found.written == chunk.written and found.doubtful and chunks.number(found.folder) == 3
    chunk.note_id("17")
    (found,) = chunks.found(tmp_path)
    assert found.id == "17" and not found.doubtful
    found.remove()
    assert not chunks.found(tmp_path) and not list(tmp_path.iterdir())


def test_an_allocation_gives_what_slurm_says() -> None:
    told = {"SLURM_CPUS_PER_TASK": "3", "SLURM_MEM_PER_NODE": "500", "CUDA_VISIBLE_DEVICES": "1"}
    known = (Gpu("GPU-bb"),)
    assert allocated(told, 900, known) == (3, 500, known)
    _, memory, gpus = allocated({"SLURM_JOB_GPUS": "0,1"}, 900, ())
    assert memory == 900 and [gpu.id for gpu in gpus] == ["0", "1"]


@pytest.mark.parametrize("line", ["chunk_jobs = 0", "poll_seconds = 0.0", 'extra = ["-p x"]', "nodes = 3"])
def test_a_wrong_table_is_told_with_its_place(content: Path, line: str) -> None:
    with (content / "course.toml").open("a") as file:
        file.write(f"\n[engine.slurm]\n{line}\n")
    with pytest.raises(ContentError, match=r"course\.toml:\d+.*slurm"):
        courses.load(content)
