"""The little of a Jupyter client that grading needs, for a kernel that is not trusted.

Every frame is capped, and parsed here: a message that is none is skipped. Sockets are connected once and never again,
so that a socket file swapped later for a symbolic link is not followed.
"""

from __future__ import annotations

import contextlib
import json
import time
import uuid
from collections.abc import Callable
from typing import Any

import zmq
from jupyter_client.session import Session

PORTS = {"shell": 1, "iopub": 2, "stdin": 3, "control": 4, "hb": 5}
FRAME = 64 << 20  # bytes of the largest message taken from a kernel; a larger one ends its channel
PARSED = 8 << 20  # bytes of the largest content that is parsed: as JSON, two bytes can become fifty
HEADER = 64 << 10
QUEUE = 4  # messages held on our side a channel: bounds our memory, the kernel's side drops what is too much
NEVER = (
    1 << 30
)  # ms, twelve days. Not -1: libzmq then drops a connection between two parts of a message and aborts us

Hear = Callable[[str, dict[str, Any]], None]
"""Called with the type and content of each message a running cell publishes."""


class Channels:
    """Connections to one kernel whose socket files are `<stem>-<number>`; `alive` says whether it still runs."""

    def __init__(self, stem: str, alive: Callable[[], bool], key: str) -> None:
        self._session = Session(key=key.encode(), username="", session=uuid.uuid4().hex)
        self._alive = alive
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._sockets: dict[str, zmq.Socket[bytes]] = {}
        for name, kind in (("shell", zmq.DEALER), ("control", zmq.DEALER), ("iopub", zmq.SUB)):
            made = self._context.socket(kind)
            self._sockets[name] = made
            made.setsockopt(zmq.RECONNECT_IVL, NEVER)
            made.setsockopt(zmq.MAXMSGSIZE, FRAME)
            made.setsockopt(zmq.RCVHWM, QUEUE)
            made.setsockopt(zmq.LINGER, 0)
            if kind == zmq.SUB:
                made.setsockopt(zmq.SUBSCRIBE, b"")
            made.connect(f"ipc://{stem}-{PORTS[name]}")

    def close(self) -> None:
        """Hangs up."""
        for connected in self._sockets.values():
            connected.close(linger=0)
        self._context.term()

    def send(self, channel: str, kind: str, content: dict[str, Any]) -> str:
        message = self._session.msg(kind, content)
        with contextlib.suppress(zmq.Again):  # a kernel that takes nothing any more: the deadline will tell
            frames = self._session.serialize(message)
            self._sockets[channel].send_multipart(frames, zmq.DONTWAIT)
        return str(message["header"]["msg_id"])

    def wait(self, request: str, end: float, hear: Hear) -> dict[str, Any] | None:
        """The reply to `request`; None when time is up or the kernel is gone."""
        poller = zmq.Poller()
        poller.register(self._sockets["shell"], zmq.POLLIN)
        poller.register(self._sockets["iopub"], zmq.POLLIN)
        while (left := end - time.monotonic()) > 0:
            ready = dict(poller.poll(int(min(left, 0.1) * 1000) + 1))
            if self._sockets["iopub"] in ready:
                self.take_output(request, hear, 0)
            if self._sockets["shell"] in ready:
                parent, _, content = _receive(self._sockets["shell"])
                if parent == request:
                    return content
            if not ready and not self._alive():
                return None
        return None

    def take_output(self, request: str, hear: Hear, wait_ms: int) -> str:
        """The kind of the next message published, after `hear` has had it; "" when none came."""
        iopub = self._sockets["iopub"]
        if not iopub.poll(wait_ms):
            return ""
        parent, kind, content = _receive(iopub)
        if parent != request:
            return "other"
        if kind == "status" and content.get("execution_state") == "idle":
            return "idle"
        hear(kind, content)
        return kind

    def drain(self, request: str, hear: Hear) -> None:
        """What was published before the reply and has not come yet, until the kernel says it is idle."""
        end = time.monotonic() + 1.0
        while time.monotonic() < end and self.take_output(request, hear, 200) not in ("idle", ""):
            pass


def _receive(channel: zmq.Socket[bytes]) -> tuple[str, str, dict[str, Any]]:
    """(id of the request, kind, content) of one message; empty when it is not one. Whoever wrote it is not trusted."""
    frames = channel.recv_multipart()
    try:
        at = frames.index(b"<IDS|MSG>")
        head, about, _, body = frames[at + 2 : at + 6]
        if max(len(head), len(about)) > HEADER:
            return "", "", {}
        header, parent = json.loads(head), json.loads(about)
        content = json.loads(body) if len(body) <= PARSED else {}
    except (ValueError, RecursionError):
        return "", "", {}
    if not all(isinstance(part, dict) for part in (header, parent, content)):
        return "", "", {}
    if len(body) > PARSED:
        told = {"name": "stderr", "text": f"(an output of {len(body) >> 20} MiB was left out)\n"}
        return str(parent.get("msg_id")), "stream", told
    return str(parent.get("msg_id")), str(header.get("msg_type")), content
