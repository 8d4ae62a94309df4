"""The zygote: our code only, with what hand-ins need imported once, forked for each of them.

Its control socket (SOCK_SEQPACKET, descriptor 1 of its arguments) first brings the settings: {"kind": "ranks" |
"kernel", "boxed": bool, "filters": {name: base64}, "uids": first of the user ids for learners or null}. It answers
{"op": "ready"}. Then each message {"op": "open"} brings one descriptor: the socket of a new supervisor, forked for one
hand-in, which ends when that socket closes and everything it started with it.

A zygote never starts a thread nor touches a device before it forks.
"""

from __future__ import annotations

import base64
import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.learner.box import limits, linux
from autograder.learner.box.space import say

_SERVERS = {"ranks": "autograder.learner.lab.runner", "kernel": "autograder.learner.box.kernel"}
"""What each kind of zygote imports, and whose `serve(control, settings)` a supervisor runs."""


@dataclass(frozen=True)
class Settings:
    """`boxed`: whether learners' processes get namespaces; `filters`: their seccomp programs by profile; `uids`: the
    first of the user ids that are theirs (None: they stay who we are).
    """

    kind: str
    boxed: bool
    filters: dict[str, bytes]
    uids: int | None

    def uid(self, number: int) -> int | None:
        """Whom the learner's process `number` runs as."""
        return None if self.uids is None else self.uids + number


def main(control_fd: int) -> None:
    """Serves until the control socket closes."""
    control = socket.socket(fileno=control_fd)
    told = json.loads(control.recv(1 << 16))
    filters = {name: base64.b64decode(text) for name, text in told["filters"].items()}
    settings = Settings(told["kind"], told["boxed"], filters, told["uids"])
    server = importlib.import_module(_SERVERS[settings.kind])
    server.warm()
    linux.adopt_orphans()
    if settings.boxed:
        linux.not_dumpable()
    wake, woken = wake_on_children()
    gc.collect()
    gc.freeze()  # what children share with us stays shared: a collection would touch, and so copy, every page
    say(control, {"op": "ready"})
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if wake in ready:
                wake.recv(4096)
                _bury()
            if control in ready:
                text, fds, _, _ = socket.recv_fds(control, 1 << 16, 1)
                if not text:
                    break
                _fork(settings, server.serve, fds[0], [selector, control, wake, woken])
                os.close(fds[0])
    if not settings.boxed:
        limits.end_descendants()


def wake_on_children() -> tuple[socket.socket, socket.socket]:
    """(a socket that becomes readable when a child has ended, its other end, to be kept)."""
    wake, woken = socket.socketpair()
    wake.setblocking(False)
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    return wake, woken


def _fork(
    settings: Settings, serve: Callable[[socket.socket, Settings], None], fd: int, ours: list[Any]
) -> None:
    """Forks the supervisor of one hand-in, the first process of a pid namespace of its own: with it all ends."""
    sys.stdout.flush()
    if os.fork() != 0:
        return
    try:
        signal.set_wakeup_fd(-1)
        for held in ours:
            held.close()
        control = socket.socket(fileno=fd)
        if settings.boxed:
            try:
                linux.unshare(linux.NEWPID | linux.NEWNS)
            except OSError as error:
                say(control, {"op": "broken", "why": str(error)})
                os._exit(1)
            if os.fork() != 0:
                os._exit(0)
        else:
            linux.adopt_orphans()
        _supervise(control, settings, serve)
    finally:
        os._exit(0)


def _supervise(
    control: socket.socket, settings: Settings, serve: Callable[[socket.socket, Settings], None]
) -> None:
    say(control, {"op": "hello"})
    # Until we are told to go on we have started nothing: whoever counts and limits us has to know us first.
    if not control.recv(1 << 16):
        return
    try:
        serve(control, settings)
    except Exception as error:
        # Whoever holds the other end decides what becomes of it; it is no fault of the learner's.
        with contextlib.suppress(OSError):
            say(control, {"op": "broken", "why": f"{type(error).__name__}: {error}"})
        raise
    finally:
        if settings.boxed:
            limits.end_namespace()
        else:
            limits.end_descendants()


def _bury() -> None:
    """Supervisors that have ended, and what they left to us."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return


if __name__ == "__main__":
    main(int(sys.argv[1]))
