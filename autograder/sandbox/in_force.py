"""Which bounds hold on this machine, in words for the person who grades and for the evidence of a verdict."""

from __future__ import annotations

import functools
import subprocess
from typing import Any

from autograder.sandbox import bwrap, cgroup, slot


@functools.cache
def facts() -> dict[str, Any]:
    """What a box on this machine is made of. `groups` are the control-group controllers that bound a hand-in;
    `own_users`: whether learners' processes are users of their own. Raises SandboxUnavailable.
    """
    bwrap.check()
    groups = cgroup.find()
    said = subprocess.run([bwrap.find(), "--version"], capture_output=True, text=True, check=True, timeout=60)
    return {
        "bubblewrap": said.stdout.split()[-1],
        "own_users": slot.uids() is not None,
        "group_version": groups.version,
        "groups": sorted(groups.parents),
    }


def tell() -> list[str]:
    """The same in sentences, what is missing last."""
    known = facts()
    who = "users of their own" if known["own_users"] else "your user, in namespaces of their own"
    lines = [
        f"bubblewrap {known['bubblewrap']}; learners' processes: {who}, filtered system calls, no network"
    ]
    if known["groups"]:
        names = ", ".join(known["groups"])
        lines.append(f"control groups (version {known['group_version']}) bound a hand-in as a whole: {names}")
    missing = {"memory", "pids", "cpu"} - set(known["groups"])
    if missing:
        why = cgroup.find().why or "this machine does not offer them"
        lines.append(
            f"not bounded as a whole, only process by process: {', '.join(sorted(missing))} ({why}). For that, start "
            "the grader as root, or with `systemd-run --user --scope -p Delegate=yes`"
        )
    return lines
