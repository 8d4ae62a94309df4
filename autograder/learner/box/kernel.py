"""The kernel of one notebook hand-in: forked from the warm zygote, with all it needs imported, then a Jupyter kernel.

One message comes over the supervisor's control socket: {"op": "kernel", "home": working folder, "folder": where its
sockets lie, "key": what signs messages, "memory": bytes a process, "processes": how many, "user": whose, "tmpfs":
{path: bytes}, "environment": {name: value}}, with descriptors: the judge's socket, one (SOCK_SEQPACKET) to say on how
the start went, and the folder of the files handed in, if there are any. On the second comes, before any learner code
runs, {"op": "up"} with the connected client ends of the channels in the order of `CHANNELS`, or {"op": "broken", "why":
…}. The control socket brings {"op": "exit", "status": s} when the kernel has ended.

Learner code can read this file, so it knows nothing: no key of an exercise, no score, no path of the course.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import select
import signal
import socket
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from typing import Any

from autograder.learner.box import limits, space
from autograder.learner.box.space import Body, Space, say
from autograder.learner.box.zygote import Settings
from autograder.learner.wire import VARIABLE

CHANNELS = ("shell", "control", "iopub")
_PORTS = {"shell": 1, "iopub": 2, "stdin": 3, "control": 4, "hb": 5}
_INLINE = "module://matplotlib_inline.backend_inline"
_WARM = """autograder sqlite3 tornado.queues tornado.platform.asyncio ipykernel.kernelapp ipykernel.ipkernel
ipykernel.zmqshell ipykernel.debugger IPython.core.magics IPython.core.completerlib IPython.core.debugger
IPython.core.oinspect IPython.extensions.storemagic numpy numpy.random matplotlib matplotlib.font_manager
matplotlib.pyplot matplotlib.backends.backend_agg"""


def warm() -> None:
    """What every kernel needs, done once in the zygote: imports and the list of fonts, nothing that starts a thread or
    an event loop or makes a zmq context.
    """
    for name in ("jedi", "debugpy"):  # completion and a debugger nobody asks for, 0.1 s each, and threads
        sys.modules[name] = None  # type: ignore[assignment]
    for name in _WARM.split():
        importlib.import_module(name)
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join()  # matplotlib's, which would have said that making the list of fonts takes long


def serve(control: socket.socket, settings: Settings) -> None:
    """Starts the kernel of one hand-in; returns when the control socket closes."""
    text, fds, _, _ = socket.recv_fds(control, 1 << 16, 3)
    if not text:
        return
    job = json.loads(text)
    judge, up, *folder = fds
    # Read here: the kernel may be another user, and must not hold a way out of its box.
    files = _read(folder[0]) if folder else {}
    body = Body(0, (judge, up), lambda: _be_kernel(job, files, judge, up))
    pid = -1
    if settings.boxed:
        program = settings.filters["kernel"]
        uid = settings.uid(job["user"])
        made = Space(tmpfs=job["tmpfs"], uid=uid, filter=program, whole_proc=True, terminals=True)
        space.launch(made, [body], control)
    else:
        pid = space.start(body)
    for fd in fds:
        os.close(fd)
    files.clear()
    _wait(control, pid)


def _wait(control: socket.socket, pid: int) -> None:
    """Until the control socket closes; says when the process `pid`, if it is a child of ours, ends before."""
    watched: list[Any] = [control]
    if pid > 0:
        watched.append(os.pidfd_open(pid))
    while control not in select.select(watched, [], [])[0]:
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        say(control, {"op": "exit", "name": 0, "status": status})
        os.close(watched.pop())


def _read(folder: int) -> dict[str, bytes]:
    """The files below an open folder; small and few, as they were copied there for this."""
    found = {}
    for here, _, names, handle in os.fwalk(".", dir_fd=folder):
        for name in names:
            with os.fdopen(os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=handle), "rb") as file:
                found[f"{here}/{name}"] = file.read()
    return found


def _be_kernel(job: dict[str, Any], files: dict[str, bytes], judge: int, up: int) -> None:
    """Runs in the forked process, as the learner's user. Returns when the kernel has ended."""
    with socket.socket(fileno=up) as told:
        try:
            app = _start(job, files, judge)
            ends = [socket.socket(socket.AF_UNIX) for _ in CHANNELS]
            for name, end in zip(CHANNELS, ends, strict=True):
                end.connect(f"{job['folder']}/k-{_PORTS[name]}")
            socket.send_fds(told, [b'{"op": "up"}'], [end.fileno() for end in ends])
            for end in ends:
                end.close()
        except BaseException:  # whatever it is, it is not the learner's: that code has not begun
            say(told, {"op": "broken", "why": traceback.format_exc()[-4000:]})
            return
    sys.path.insert(
        0, ""
    )  # as in a learner's own notebook; only now, so that a json.py of theirs shadows nothing of ours
    app.start()


def _start(job: dict[str, Any], files: dict[str, bytes], judge: int) -> Any:
    """Lays out the working folder, sets limits, and makes everything of a kernel but its event loop."""
    os.chdir(job["home"])
    for way, content in files.items():
        path = Path(way)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    files.clear()
    _nothing_open()
    os.set_inheritable(judge, False)
    os.environ.update(job["environment"], PWD=job["home"], MPLBACKEND=_INLINE, **{VARIABLE: str(judge)})
    Path(os.environ["MPLCONFIGDIR"]).mkdir(parents=True, exist_ok=True)
    limits.apply(job["memory"], processes=job["processes"])
    _own_state()
    return _app(Path(job["folder"]), job["key"])


def _own_state() -> None:
    """What a fork shares with its siblings, and a process started anew would not."""
    import matplotlib
    import numpy

    random.seed()
    numpy.random.seed()
    tempfile.tempdir = None
    matplotlib.rcParams["backend"] = _INLINE
    sys.argv[:] = ["kernel"]
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # the zygote may have been started with it ignored


def _app(folder: Path, key: str) -> Any:
    from ipykernel import kernelapp

    vars(kernelapp)["IOPubThread"] = _published(folder)
    file = folder / "connection.json"
    ports = {f"{name}_port": number for name, number in _PORTS.items()}
    told = {"transport": "ipc", "ip": f"{folder}/k", "key": key, "signature_scheme": "hmac-sha256", **ports}
    file.write_text(json.dumps(told), encoding="utf-8")
    app: Any = kernelapp.IPKernelApp.instance()
    app.initialize(["-f", str(file), "--HistoryManager.hist_file=:memory:"])
    file.unlink()
    return app


def _published(folder: Path) -> Any:
    """ipykernel's thread that publishes, which takes what forked children print by TCP; in here there is no network."""
    import zmq
    from ipykernel.iostream import IOPubThread
    from zmq.eventloop.zmqstream import ZMQStream

    place = f"ipc://{folder}/children"

    class Published(IOPubThread):
        def _setup_pipe_in(self) -> None:
            self._pipe_uuid = os.urandom(16)
            pipe = self.socket.context.socket(zmq.PULL)
            pipe.linger = 0
            pipe.bind(place)
            self._pipe_in = ZMQStream(pipe, self.io_loop)
            self._pipe_in.on_recv(self._handle_pipe_msg)

        def _setup_pipe_out(self) -> Any:
            context: Any = zmq.Context()
            pipe = context.socket(zmq.PUSH)
            pipe.linger = 3000
            pipe.connect(place)
            return context, pipe

    return Published


def _nothing_open() -> None:
    """Input is empty; what is written before the kernel takes over the outputs goes nowhere."""
    null = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(null, number)
    os.close(null)
