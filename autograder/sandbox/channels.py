"""The little of a Jupyter client that grading needs, for a kernel that is not trusted.

It talks over sockets connected before learner code ran, through `zmtp`, which bounds what is held. What comes is
capped again and parsed here: a message that is none is skipped.
"""

from __future__ import annotations

import json
import select
import socket
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from jupyter_client.session import Session

from autograder.sandbox.zmtp import Connection, Message

PARSED = 8 << 20  # bytes of the largest content that is parsed: as JSON, two bytes can become fifty
HEADER = 64 << 10
DRAIN_SECONDS = 5.0  # for what was published before a reply and comes after it
SILENCE_SECONDS = (
    1.0  # a word that a kernel says after every reply may have been dropped with what was too much
)

Hear = Callable[[str, dict[str, Any]], None]
"""Called with the type and content of each message a running cell publishes."""


class Channels:
    """The client's side of one kernel. `sockets` are connected stream sockets to its "shell", "control" and "iopub",
    taken over; `alive` says whether it still runs. Never blocks longer than it is told, whatever the kernel does.
    """

    def __init__(self, sockets: Mapping[str, socket.socket], alive: Callable[[], bool], key: str) -> None:
        self._session = Session(key=key.encode(), username="", session=uuid.uuid4().hex)
        self._alive = alive
        self._shell = Connection(sockets["shell"], "DEALER")
        self._control = Connection(sockets["control"], "DEALER")
        self._iopub = Connection(sockets["iopub"], "SUB")

    def close(self) -> None:
        """Hangs up."""
        for connection in self._all():
            connection.close()

    def hung_up(self) -> bool:
        """Whether no reply can come any more: the kernel closed its end, or sent what no kernel sends."""
        return self._shell.ended

    def send(self, channel: str, kind: str, content: dict[str, Any]) -> str:
        """Sends a request by "shell" or "control"; its id. One that the kernel does not take is lost: the deadline of
        whoever waits will tell.
        """
        message = self._session.msg(kind, content)
        connection = {"shell": self._shell, "control": self._control}[channel]
        connection.send(self._session.serialize(message))
        return str(message["header"]["msg_id"])

    def wait(self, request: str, end: float, hear: Hear) -> dict[str, Any] | None:
        """The reply to `request`; None when time is up or the kernel is gone."""
        while (left := end - time.monotonic()) > 0:
            gone = self._shell.ended or not self._alive()
            heard = self.take_output(request, hear, 0)
            message = self._shell.receive()
            self._control.receive()  # answers to interrupts, which nobody waits for
            if message is not None:
                parent, _, content = _parse(message)
                if parent == request:
                    return content
            elif not heard and not self._await(0 if gone else min(left, 0.1), *self._all()) and gone:
                return None
        return None

    def take_output(self, request: str, hear: Hear, seconds: float) -> str:
        """The kind of the next message published, after `hear` has had it; "" when none came in time."""
        end = time.monotonic() + seconds
        while (message := self._iopub.receive()) is None:
            left = end - time.monotonic()
            if left <= 0 or self._iopub.ended:
                return ""
            self._await(left, self._iopub)
        parent, kind, content = _parse(message)
        if parent != request:
            return "other"
        if kind == "status" and content.get("execution_state") == "idle":
            return "idle"
        hear(kind, content)
        return kind or "other"

    def drain(self, request: str, hear: Hear) -> None:
        """What was published before the reply and has not come yet, until the kernel says it is idle."""
        end = time.monotonic() + DRAIN_SECONDS
        while time.monotonic() < end and self.take_output(request, hear, SILENCE_SECONDS) not in ("idle", ""):
            pass

    def held(self) -> int:
        """Bytes held for this kernel at this moment."""
        return sum(connection.held() for connection in self._all())

    def _all(self) -> tuple[Connection, ...]:
        return self._shell, self._control, self._iopub

    def _await(self, seconds: float, *connections: Connection) -> bool:
        """Waits until one of `connections` has something to read; sends meanwhile what waits to be sent."""
        poll = select.poll()
        for connection in connections:
            connection.register(poll)
        ready = poll.poll(seconds * 1000)
        for connection in connections:
            connection.flush()
        return any(events & ~select.POLLOUT for _, events in ready)


def _parse(message: Message) -> tuple[str, str, dict[str, Any]]:
    """(id of the request, kind, content) of one message; empty when it is not one. Whoever wrote it is not trusted."""
    try:
        at = message.frames.index(b"<IDS|MSG>")
        head, about, _, body = message.frames[at + 2 : at + 6]
        length = message.lengths[at + 5]
        if max(len(head), len(about)) > HEADER:
            return "", "", {}
        header, parent = json.loads(head), json.loads(about)
        content = json.loads(body) if length <= PARSED else {}
    except (ValueError, RecursionError):
        return "", "", {}
    if not all(isinstance(part, dict) for part in (header, parent, content)):
        return "", "", {}
    if length > PARSED:
        told = {"name": "stderr", "text": f"(an output of {length >> 20} MiB was left out)\n"}
        return str(parent.get("msg_id")), "stream", told
    return str(parent.get("msg_id")), str(header.get("msg_type")), content
