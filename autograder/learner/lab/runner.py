"""The supervisor of one lab hand-in: forks the ranks of one case after another.

Over its control socket come {"op": "lab", "run": path, "lab": path} once, and where there is a box with it the
descriptors of both files, which then appear under these paths; it answers {"op": "ready"}. After that come
{"op": "case", "profile": "rank" | "equality", "tmpfs": {path: bytes}} with 2 N descriptors: N sockets to the switch, N
pipes for what the ranks print; and {"op": "stop"}, which ends the case's processes. It says {"op": "exit", "name": r,
"status": s} for each rank that ends, {"op": "idle"} when nothing of a case is left, {"op": "broken", "why": …} when the
machine will not start one.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import selectors
import socket
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from autograder.learner.box import limits, linux, space
from autograder.learner.box.space import Body, Space, say
from autograder.learner.box.zygote import Settings, wake_on_children
from autograder.learner.lab import probe, rank

MiB = 1 << 20
_LARGEST = 4 * MiB
_EQUALITY_UID = 1023
"""Ranks that share their memory files are one user; all others are each their own."""


def warm() -> None:
    """What every rank needs, done once in the zygote."""
    torch.set_num_threads(1)
    # what labs wrap and compare with
    for module in ("torch.distributed.fsdp", "torch.distributed.optim", "torch.nn.parallel"):
        importlib.import_module(module)
    torch.ones(2, 2) @ torch.ones(2, 2)  # reads what the processor can do while /proc and /sys are there
    # the first step of an optimizer, and the first tensor of a probe, import what a rank would pay for, 2 s
    parameter = torch.nn.Parameter(torch.ones(2))
    for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
        parameter.grad = torch.ones(2)
        kind([parameter], lr=0.1).step()
    with probe.Probe(lambda name, values: None) as one, one.phase("forward"):
        torch.nn.functional.linear(parameter, parameter[None]).sum().backward()


def serve(control: socket.socket, settings: Settings) -> None:
    """Serves the cases of one hand-in until the control socket closes."""
    text, fds, _, _ = socket.recv_fds(control, 1 << 16, 2)
    if not text:
        return
    lab = json.loads(text)
    run_py, lab_py = Path(lab["run"]), Path(lab["lab"])
    if settings.boxed:
        _lay_out(dict(zip((run_py, lab_py), fds, strict=True)))
    cases = _Cases(control, settings, rank.load(run_py, "run"), lab_py)
    say(control, {"op": "ready"})
    cases.serve()


class _Cases:
    """The cases of one hand-in, one at a time."""

    def __init__(self, control: socket.socket, settings: Settings, run: ModuleType, lab_py: Path) -> None:
        self._control, self._settings, self._run, self._lab_py = control, settings, run, lab_py
        self._ranks: dict[int, int] = {}  # by process id, where they are our own children

    def serve(self) -> None:
        """Until the control socket closes."""
        wake, woken = wake_on_children()
        with selectors.DefaultSelector() as selector, wake, woken:
            selector.register(self._control, selectors.EVENT_READ)
            selector.register(wake, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if wake in ready:
                    wake.recv(4096)
                    self._bury()
                if self._control in ready:
                    text, fds, _, _ = socket.recv_fds(self._control, 1 << 16, 64)
                    if not text:
                        return
                    message = json.loads(text)
                    if message["op"] == "case":
                        self._start(message, fds)
                    else:
                        self._stop()

    def _start(self, case: dict[str, Any], fds: list[int]) -> None:
        world = len(fds) // 2
        bodies = [self._body(number, fds[number], fds[world + number]) for number in range(world)]
        if not self._settings.boxed:
            self._ranks = {space.start(body): body.name for body in bodies}
        elif case["profile"] == "equality":
            space.launch(self._space(_EQUALITY_UID, "equality", case, loopback=True), bodies, self._control)
        else:
            for body in bodies:
                space.launch(self._space(1 + body.name, "rank", case), [body], self._control)
        for fd in fds:
            os.close(fd)

    def _space(self, number: int, profile: str, case: dict[str, Any], *, loopback: bool = False) -> Space:
        settings = self._settings
        return Space(
            tmpfs=case["tmpfs"],
            uid=settings.uid(number),
            loopback=loopback,
            alone=profile == "rank",
            filter=settings.filters.get(profile, b""),
        )

    def _body(self, number: int, sock: int, out: int) -> Body:
        def run() -> None:
            rank.redirect(out)
            rank.be_rank(socket.socket(fileno=sock), self._run, self._lab_py)

        return Body(number, (sock, out), run)

    def _stop(self) -> None:
        if self._settings.boxed:
            limits.end_namespace()
        else:
            limits.end_descendants()
        self._ranks = {}
        say(self._control, {"op": "idle"})

    def _bury(self) -> None:
        """Says which ranks have ended; others that come to us by adoption are buried without a word."""
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid in self._ranks:
                    number = self._ranks.pop(pid)
                    say(
                        self._control,
                        {"op": "exit", "name": number, "status": os.waitstatus_to_exitcode(status)},
                    )


def _lay_out(files: dict[Path, int]) -> None:
    """The two files of a lab, under their paths on a file system of their own that nobody can write."""
    folder = next(iter(files)).parent
    linux.mount("none", "/", "none", linux.MS_REC | linux.MS_PRIVATE)
    linux.tmpfs(str(folder), 2 * _LARGEST, mode="0755", uid=os.getuid(), gid=os.getgid())
    for path, fd in files.items():
        with os.fdopen(fd, "rb") as source:
            path.write_bytes(source.read(_LARGEST))
        path.chmod(0o444)
    linux.remount_read_only(str(folder))
