"""The runner in a box: imports torch once, then forks the ranks of one case after another.

Its control socket (a SOCK_SEQPACKET pair, its descriptor the only argument beside the two files) takes
{"op": "case", "world": N} with 2 N descriptors: N sockets to the switch, N pipes for what the ranks print;
{"op": "stop"} ends the case's processes. It says {"op": "ready"} once, {"op": "exit", "rank": r, "status": s} for each
rank, {"op": "idle"} when nothing of a case is left. The judge believes none of it more than it must.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import signal
import socket
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import torch

from autograder.learner.lab import limits, rank


def main(control_fd: int, run_py: Path, lab_py: Path) -> None:
    """Serves cases until the control socket closes."""
    control = socket.socket(fileno=control_fd)
    torch.set_num_threads(1)
    run = rank.load(run_py, "run")
    limits.adopt_orphans()
    wake, woken = socket.socketpair()
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(woken.fileno(), warn_on_full_buffer=False)
    gc.collect()
    gc.freeze()  # what the ranks share with us stays shared: a collection would touch, and so copy, every page
    _say(control, {"op": "ready"})
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(wake, selectors.EVENT_READ)
        ranks: dict[int, int] = {}
        while True:
            ready = {key.fileobj for key, _ in selector.select()}
            if wake in ready:
                wake.recv(4096)
                _report(control, ranks)
            if control in ready:
                text, fds, _, _ = socket.recv_fds(control, 1 << 16, 64)
                if not text:
                    break
                if json.loads(text)["op"] == "case":
                    ranks = _fork(fds, control, run, lab_py, [wake, woken, selector])
                else:
                    limits.end_descendants()
                    ranks = {}
                    _say(control, {"op": "idle"})
    limits.end_descendants()


def _fork(
    fds: list[int], control: socket.socket, run: ModuleType, lab_py: Path, ours: list[Any]
) -> dict[int, int]:
    """Forks the ranks; returns their numbers by process id. A rank closes `control`, and what else is `ours`."""
    world = len(fds) // 2
    ranks: dict[int, int] = {}
    sys.stdout.flush()
    for number in range(world):
        pid = os.fork()
        if pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for theirs in [control, *ours]:
                    theirs.close()
                mine = {fds[number], fds[world + number]}
                for fd in fds:
                    if fd not in mine:
                        os.close(fd)
                os.setsid()
                rank.redirect(fds[world + number])
                rank.be_rank(socket.socket(fileno=fds[number]), run, lab_py)
            finally:
                os._exit(0)
        ranks[pid] = number
    for fd in fds:
        os.close(fd)
    return ranks


def _report(control: socket.socket, ranks: dict[int, int]) -> None:
    """Says which ranks have ended; daemons that come to us by adoption are buried without a word."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        if pid in ranks:
            _say(control, {"op": "exit", "rank": ranks.pop(pid), "status": os.waitstatus_to_exitcode(status)})


def _say(control: socket.socket, message: dict[str, Any]) -> None:
    control.send(json.dumps(message).encode())


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]))
