"""The switch's end of one rank's socket: frames in and out, without blocking, within bounds."""

from __future__ import annotations

import json
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from autograder.judge.switch.dtypes import Bytes
from autograder.judge.switch.fault import Fault
from autograder.learner.lab.frames import HEAD, Buffer

MiB = 1 << 20
MAX_HEADER = 64 << 10
MAX_PAYLOAD = 128 * MiB
_TURN = 8 * MiB  # bytes taken from one rank before the others, and the clock, get their turn
_LEAST = 32 << 10  # what a read counts at least: small messages cost time, not bytes


class Port:
    """One rank's socket, as the switch holds it."""

    def __init__(self, sock: socket.socket, max_payload: int = MAX_PAYLOAD) -> None:
        sock.setblocking(False)
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            sock.setsockopt(socket.SOL_SOCKET, option, 4 * MiB)
        self.sock = sock
        self._max_payload = max_payload
        self._head = bytearray(HEAD.size)
        self._text: bytearray | None = None
        self._payload: Bytes | None = None
        self._want = memoryview(self._head)
        self._size = 0
        self._out: deque[memoryview] = deque()
        self._queued = 0
        self.closed = False

    @property
    def sending(self) -> bool:
        """True while bytes wait to be taken by the rank."""
        return bool(self._out)

    @property
    def queued(self) -> int:
        """How many bytes wait to be taken by the rank."""
        return self._queued

    def frames(self) -> Iterator[tuple[Any, Bytes]]:
        """The frames that are complete now: (header as parsed, payload). Raises Fault for what is no frame; sets
        `closed` when the rank has gone."""
        turn = _TURN
        while turn > 0:
            try:
                count = self.sock.recv_into(self._want)
            except BlockingIOError:
                return
            except ConnectionResetError:
                count = 0
            if count == 0:
                self.closed = True
                return
            turn -= max(count, _LEAST)
            self._want = self._want[count:]
            while not self._want.nbytes:
                frame = self._advance()
                if frame is not None:
                    yield frame
                    break

    def _advance(self) -> tuple[Any, Bytes] | None:
        """Goes to the next piece of a frame; returns the frame when it was the last."""
        if self._text is None:
            length, size = HEAD.unpack(self._head)
            if length > MAX_HEADER or size > self._max_payload:
                raise Fault(f"a message of {length} + {size} bytes: these are no bytes of our process group")
            self._text, self._size = bytearray(length), size
            self._want = memoryview(self._text)
        elif self._payload is None:
            self._payload = np.empty(self._size, np.uint8)
            self._want = self._payload.data
        else:
            text, payload = self._text, self._payload
            self._text, self._payload, self._want = None, None, memoryview(self._head)
            return _parse(text), payload
        return None

    def send(self, header: dict[str, Any], parts: Sequence[Buffer | Bytes] = ()) -> None:
        """Queues a frame and sends what goes at once."""
        views = [_view(part) for part in parts if len(part)]
        size = sum(view.nbytes for view in views)
        text = json.dumps(header, separators=(",", ":")).encode()
        head = HEAD.pack(len(text), size) + text
        self._out.append(memoryview(head))
        self._out.extend(views)
        self._queued += size + len(head)
        self.flush()

    def flush(self) -> None:
        """Sends what the rank takes now."""
        while self._out:
            try:
                sent = self.sock.sendmsg(list(islice(self._out, 16)))
            except BlockingIOError:
                return
            except (BrokenPipeError, ConnectionResetError):
                self._out.clear()  # it has gone; reading will tell
                self._queued = 0
                return
            self._queued -= sent
            while self._out and sent >= self._out[0].nbytes:
                sent -= self._out.popleft().nbytes
            if sent:
                self._out[0] = self._out[0][sent:]

    def close(self) -> None:
        """Closes the socket; the rank's process group then fails every call."""
        self.closed = True
        self._out.clear()
        self._queued = 0
        self.sock.close()


def _view(part: Buffer | Bytes) -> memoryview:
    return part.data if isinstance(part, np.ndarray) else memoryview(part)


def _parse(text: bytearray) -> Any:
    try:
        return json.loads(bytes(text), parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise Fault("a message that is no JSON: these are no bytes of our process group") from error


def _refuse(name: str) -> float:
    raise ValueError(name)
