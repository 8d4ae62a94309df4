"""Control groups: what they bound, really; and that a machine without them says so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from autograder.sandbox import cgroup
from autograder.sandbox.cgroup import Groups

MiB = 1 << 20
EATS = """
import sys
sys.stdin.readline()
held = [bytearray(8 << 20) for _ in range(40)]
print(len(held))
"""
FORKS = """
import os, sys
sys.stdin.readline()
made = 0
try:
    for _ in range(60):
        if os.fork() == 0:
            sys.stdin.read()
            os._exit(0)
        made += 1
except BlockingIOError:
    pass
print(made)
"""


@pytest.fixture
def groups() -> Groups:
    found = cgroup.find()
    if not found.parents:
        pytest.skip(f"no control group can be made here: {found.why}")
    return found


def _inside(groups: Groups, code: str, *, memory: int, processes: int) -> tuple[str, int, int]:
    """(output, exit status, kills for want of memory) of `code` run in a group of its own."""
    group = groups.make(memory, processes)
    try:
        with subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child:
            group.take(child.pid)
            output, _ = child.communicate("go\n", timeout=60)
        return output.strip(), child.returncode, group.out_of_memory()
    finally:
        group.remove()
        assert not any(folder.exists() for folder in group.folders.values())


def test_memory_of_all_processes_together_is_bounded(groups: Groups) -> None:
    if "memory" not in groups.parents:
        pytest.skip("the memory controller is not ours")
    assert _inside(groups, EATS, memory=1024 * MiB, processes=100) == ("40", 0, 0)
    output, status, kills = _inside(groups, EATS, memory=128 * MiB, processes=100)
    assert (output, status) == ("", -9) and kills >= 1


def test_the_number_of_processes_is_bounded(groups: Groups) -> None:
    if "pids" not in groups.parents:
        pytest.skip("the pids controller is not ours")
    made = int(_inside(groups, FORKS, memory=1024 * MiB, processes=20)[0])
    assert 0 < made < 20


def test_what_a_killed_grader_left_is_taken_away(groups: Groups) -> None:
    parent = next(iter(groups.parents.values()))
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        pass
    left = parent / f"shardlab-{gone.pid}-0"
    left.mkdir()
    cgroup.find.cache_clear()
    cgroup.find()
    assert not left.exists()


def test_where_no_group_can_be_made_the_reason_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(cgroup, "_MOUNTS", tmp_path)
    found = cgroup.find.__wrapped__()
    assert (found.version, found.parents) == (0, {}) and found.why
    group = found.make(1, 1)
    assert group.out_of_memory() == 0
    group.remove()


def test_version_2_passes_its_controllers_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A folder laid out as the kernel does: there is no machine here with version 2 and these controllers."""
    (tmp_path / "cgroup.controllers").write_text("cpuset cpu io memory hugetlb pids\n")
    (tmp_path / "cgroup.subtree_control").write_text("cpu memory pids\n")
    monkeypatch.setattr(cgroup, "_MOUNTS", tmp_path)
    found = cgroup._version_2("/")
    assert found.version == 2 and set(found.parents) == {"memory", "pids", "cpu"}
    group = found.make(64 * MiB, 7)
    folder = group.folders["memory"]
    assert (folder / "memory.max").read_text() == str(64 * MiB)
    assert (folder / "pids.max").read_text() == "7"
    (folder / "memory.events").write_text("low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 0\n")
    assert group.out_of_memory() == 3
