"""A Jupyter kernel in a box.

Nothing a kernel says decides anything but what a learner printed; scores come from the judge's own socket
(`BoxedKernel.judge`). The kernel's sockets lie on a tmpfs inside the box and are reached through /proc/<pid>/root, so
nothing outside can be filled; they are connected before learner code runs.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.sandbox.bwrap import INSIDE, Box, MiB
from autograder.sandbox.channels import PORTS, Channels, Hear

START_SECONDS = 60.0
INTERRUPT_SECONDS = 2.0
PROCESSES = 2048  # processes and threads a box may have
HOME = "/learner"  # the working folder in the box
_INSIDE_SCRIPT = Path(__file__).with_name("inside.py")


class KernelStartError(RuntimeError):
    """The kernel did not come up: our fault or the machine's, never the learner's."""


@dataclass(frozen=True)
class Ended:
    """How one cell ended. `how`: "ok", "error" (then `name` and `text` of the exception), "timeout" (interrupted,
    the kernel lives), "dead" (the kernel is gone, or had to be killed after a timeout: `killed`).
    """

    how: str
    name: str = ""
    text: str = ""
    killed: bool = False


class BoxedKernel:
    """One kernel in one box. A context manager: everything in the box is gone when it ends.

    `files` is a folder whose content is copied into the kernel's working folder. `judge` is our end of the socket
    whose other end the kernel finds under SHARDLAB_JUDGE_FD. Raises KernelStartError, SandboxUnavailable. The thread
    that enters must outlive the box: bubblewrap kills it when that thread ends.
    """

    def __init__(self, files: Path | None, *, memory_mib: int, sandboxed: bool) -> None:
        self._files = files
        self._memory = memory_mib * MiB
        self._sandboxed = sandboxed
        self._init: int | None = None  # pidfd of the box's first process
        self._process: subprocess.Popen[bytes] | None = None
        self._home = Path()
        self._channels: Channels
        self._key = uuid.uuid4().hex  # signs messages as Jupyter wants it; learner code can read it
        self.judge: socket.socket

    def __enter__(self) -> BoxedKernel:
        self._home = Path(tempfile.mkdtemp(prefix="shardlab-"))
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(self, code: str, *, seconds: float, hear: Hear) -> Ended:
        """Runs one cell for at most `seconds`."""
        request = self._channels.send("shell", "execute_request", _execute(code))
        end = time.monotonic() + seconds
        reply = self._channels.wait(request, end, hear)
        interrupted = False
        if reply is None and self._reachable():
            interrupted = True
            self._channels.send("control", "interrupt_request", {})
            reply = self._channels.wait(request, time.monotonic() + INTERRUPT_SECONDS, hear)
        if reply is None:
            killed = self._reachable()
            self._kill()
            return Ended("dead", killed=killed)
        self._channels.drain(request, hear)
        if _asked_exit(reply):  # `exit` in a cell: the kernel goes as soon as it has answered
            self._kill()
            return Ended("dead")
        if interrupted:
            return Ended("timeout")
        if reply.get("status") == "ok":
            return Ended("ok")
        return Ended("error", _text(reply.get("ename"), 200), _text(reply.get("evalue"), 2000))

    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def _reachable(self) -> bool:
        """Whether an answer may still come: a kernel that has closed its sockets can live on, and is none any more."""
        return self.alive() and not self._channels.hung_up()

    def close(self) -> None:
        """Ends every process of the box, waits until none is left, and removes what was made for it."""
        self._kill()
        if hasattr(self, "_channels"):
            self._channels.close()
            del self._channels
        if hasattr(self, "judge"):
            self.judge.close()
        shutil.rmtree(self._home, ignore_errors=True)

    # -- starting ------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self.judge, theirs = socket.socketpair()
        with theirs:
            self._launch(theirs.fileno())
        assert self._process is not None
        try:
            end = time.monotonic() + START_SECONDS
            self._channels = Channels(self._connect(self._socket_folder(), end), self.alive, self._key)
            self._await_ready(end)
        except KernelStartError as error:
            raise KernelStartError(f"{error}{self._last_words()}") from None
        finally:
            if self._process.stderr:
                self._process.stderr.close()

    def _launch(self, judge_fd: int) -> None:
        inside = Path("/kernel") if self._sandboxed else self._home
        files = self._files or self._home / "none"
        connection = {
            "transport": "ipc",
            "ip": str(inside / "k"),
            "key": self._key,
            "signature_scheme": "hmac-sha256",
            **{f"{name}_port": number for name, number in PORTS.items()},
        }
        connection_file = self._home / "connection.json"
        connection_file.write_text(json.dumps(connection), encoding="utf-8")
        shown = Path("/shardlab/files") if self._sandboxed else files
        limits = {
            "memory": self._memory,
            "processes": PROCESSES if self._sandboxed else None,
            "handin": str(shown),
            "connection": str(INSIDE / "connection.json" if self._sandboxed else connection_file),
        }
        environment = {
            "SHARDLAB_JUDGE_FD": str(judge_fd),
            "SHARDLAB_LIMITS": json.dumps(limits),
            "MPLCONFIGDIR": "/tmp/.matplotlib",
            "JUPYTER_PLATFORM_DIRS": "1",
            "IPYTHONDIR": "/tmp/.ipython",
        }
        if self._sandboxed:
            self._launch_boxed(environment, connection_file, judge_fd)
        else:
            self._launch_plain(environment, judge_fd)

    def _launch_boxed(self, environment: dict[str, str], connection_file: Path, judge_fd: int) -> None:
        shown = {connection_file: INSIDE / "connection.json", _INSIDE_SCRIPT: INSIDE / "inside.py"}
        if self._files is not None:
            shown[self._files] = INSIDE / "files"
        box = Box(
            shown=shown,
            makes_namespaces=False,
            tmpfs={"/tmp": 64 * MiB, "/dev/shm": 16 * MiB, "/kernel": MiB, HOME: 64 * MiB},
            environment=environment,
            home=HOME,
        )
        ours, theirs = os.pipe()
        try:
            argv = [sys.executable, "-P", str(INSIDE / "inside.py")]
            self._process = subprocess.Popen(
                box.command(argv, info_fd=theirs),
                env={},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                pass_fds=(judge_fd, theirs),
            )
        finally:
            os.close(theirs)
            with os.fdopen(ours, "rb") as info:
                said = info.read() if self._process else b""
        if said:
            self._pid = int(json.loads(said)["child-pid"])
            # Opened while bubblewrap still waits for this child, so the number cannot be another process's by now.
            with contextlib.suppress(ProcessLookupError):  # it ended at once: bubblewrap has said why
                self._init = os.pidfd_open(self._pid)

    def _launch_plain(self, environment: dict[str, str], judge_fd: int) -> None:
        """Without a box, for one's own hand-ins: a private working folder, no promise about anything else."""
        work = self._home / "work"
        work.mkdir()
        keep = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        keep |= {"HOME": str(self._home), "TMPDIR": str(self._home), "OMP_NUM_THREADS": "1"}
        keep |= {"PYTHONPATH": str(Path(__file__).parents[2]), "PYTHONDONTWRITEBYTECODE": "1"}
        mine = {"MPLCONFIGDIR": str(self._home / "mpl"), "IPYTHONDIR": str(self._home / "ipython")}
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_INSIDE_SCRIPT)],
            cwd=work,
            env={**keep, **environment, **mine},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(judge_fd,),
            start_new_session=True,
        )

    def _socket_folder(self) -> str:
        return f"/proc/{self._pid}/root/kernel/k" if self._init is not None else str(self._home / "k")

    def _connect(self, stem: str, end: float) -> dict[str, socket.socket]:
        """The sockets of the kernel, as soon as it takes connections. Connected once and never again, so that a file
        swapped later for a symbolic link is not followed.
        """
        made: dict[str, socket.socket] = {}
        try:
            for name in ("shell", "control", "iopub"):
                made[name] = socket.socket(socket.AF_UNIX)
                while made[name].connect_ex(f"{stem}-{PORTS[name]}"):
                    self._still_starting(end)
                    time.sleep(0.01)
        except BaseException:
            for one in made.values():
                one.close()
            raise
        return made

    def _await_ready(self, end: float) -> None:
        """Until a request is answered and its echo comes by iopub: subscribing takes a moment of its own."""
        heard: list[str] = []
        while not heard:
            self._still_starting(end)
            request = self._channels.send("shell", "kernel_info_request", {})
            reply = self._channels.wait(request, end, lambda kind, _: heard.append(kind))
            stop = time.monotonic() + 0.2
            while reply is not None and not heard and time.monotonic() < stop:
                self._channels.take_output(request, lambda kind, _: heard.append(kind), 0.05)
        self._channels.drain(request, lambda *_: None)

    def _still_starting(self, end: float) -> None:
        if not self.alive():
            raise KernelStartError("the kernel ended before it was up")
        if time.monotonic() > end:
            raise KernelStartError(f"the kernel was not up after {START_SECONDS:g} s")

    def _last_words(self) -> str:
        assert self._process is not None and self._process.stderr is not None
        self._kill()
        text = self._process.stderr.read(1 << 16).decode("utf-8", "replace").strip()
        return f": {text[-1500:]}" if text else ""

    def _kill(self) -> None:
        process = self._process
        if process is None:
            return
        if self._init is not None:
            # The first process of a pid namespace ends only after all others in it have: after this wait none is left,
            # and bubblewrap outside, which waits for it, ends too.
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._init, signal.SIGKILL)
            ended = select.poll()
            ended.register(self._init, select.POLLIN)
            ended.poll(30_000)
            os.close(self._init)
            self._init = None
        elif process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.kill()
        process.wait()


def _execute(code: str) -> dict[str, Any]:
    return {
        "code": code,
        "silent": False,
        "store_history": True,
        "user_expressions": {},
        "allow_stdin": False,
        "stop_on_error": False,
    }


def _text(said: Any, most: int) -> str:
    """Text of a kernel, cut, in a form that can be written as UTF-8."""
    return str(said or "")[:most].encode("utf-8", "replace").decode()


def _asked_exit(reply: dict[str, Any]) -> bool:
    payload = reply.get("payload")
    entries = payload if isinstance(payload, list) else []
    return any(
        isinstance(entry, dict) and entry.get("source") == "ask_exit" and not entry.get("keepkernel")
        for entry in entries
    )
