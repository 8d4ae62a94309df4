"""The pool's side of a worker: its process, the job it has, and its end."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import msgspec

from autograder.engine.schedule import Lease
from autograder.engine.spool import Spool
from autograder.engine.worker import Answer, Order
from autograder.learner.box.limits import descendants

END_SECONDS = 20.0
"""What a worker that has nothing to do, or was killed, may take until it and its boxes are gone."""


class Worker:
    """One worker process. Start it from a thread that lives as long as it: it is killed when that thread ends."""

    def __init__(self, slot: int, temporary: Path, log: Path | None) -> None:
        """`temporary` is a folder of its own for what it writes while it grades; `log` is where its words go."""
        self.slot = slot
        self.lease: Lease | None = None
        self.deadline = 0.0
        self._temporary = temporary
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir(parents=True)
        self.channel, theirs = socket.socketpair()
        self._half = b""
        argv = [sys.executable, "-s", "-P", "-m", "autograder.engine.worker", "--slot", str(slot)]
        argv += ["--channel", str(theirs.fileno()), "--parent", str(os.getpid())]
        said = log.open("ab") if log else None
        try:
            self.process = subprocess.Popen(
                argv,
                env={**os.environ, "TMPDIR": str(temporary)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=said or subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # so that Ctrl-C reaches the pool alone
            )
        except BaseException:
            self.channel.close()
            raise
        finally:
            theirs.close()
            if said:
                said.close()

    def give(self, lease: Lease, spool: Spool, seconds: float) -> None:
        """Sends it a job, which may take so many seconds. Raises OSError where it is dead."""
        self.lease, self.deadline = lease, time.monotonic() + seconds
        order = Order(lease.job, str(spool.folder.absolute()), tuple(gpu.id for gpu in lease.gpus))
        self.channel.sendall(msgspec.json.encode(order) + b"\n")

    def hear(self) -> Answer | None:
        """What it answered, None where only a part of it has come. Raises EOFError when it has ended."""
        try:
            read = self.channel.recv(1 << 16)
        except OSError:
            read = b""
        if not read:
            raise EOFError
        self._half += read
        line, newline, rest = self._half.partition(b"\n")
        if not newline:
            return None
        self._half = rest
        return msgspec.json.decode(line, type=Answer)

    def tell_to_finish(self) -> None:
        """Nothing more comes: it ends by itself once it has answered."""
        with contextlib.suppress(OSError):
            self.channel.shutdown(socket.SHUT_WR)

    def end(self, patience: float = 0.0) -> str:
        """Ends it, with its boxes, if it has not ended by itself within so many seconds; says how it ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(patience)
        alive = self.process.poll() is None
        handles = []
        for pid in descendants(self.process.pid) if alive else []:
            with contextlib.suppress(ProcessLookupError):
                handles.append(os.pidfd_open(pid))
        if alive:
            self.process.kill()
        status = self.process.wait()
        self.channel.close()
        _bury(handles)
        shutil.rmtree(self._temporary, ignore_errors=True)
        if status < 0:
            return f"was killed by signal {-status} ({signal.Signals(-status).name})"
        return f"ended with status {status}"


def _bury(handles: list[int]) -> None:
    """Waits until the processes are gone, which die with their worker; kills those that do not."""
    until = time.monotonic() + END_SECONDS
    for handle in handles:
        left = max(0.0, until - time.monotonic())
        if not select.select([handle], [], [], left)[0]:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        os.close(handle)
