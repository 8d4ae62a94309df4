"""Messages from a socket whose other end is hostile: capped, timed, and stoppable from another thread.

A message is a JSON object on a line of at most 64 KiB whose `op` is a text and whose `id` a short text, a number or
nothing; a conversation is at most 4 MiB and 200 lines that are no message.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import threading
import time
from typing import Any

from autograder.judge.heard import Ended

LINE_LIMIT = 64 * 1024
TALK_LIMIT = 4 * 1024 * 1024
"""Bytes a kernel may say in one conversation."""
GARBAGE_LIMIT = 200
"""Lines that are no message, or none that was asked for, before the judge stops listening."""
_NOTES_LIMIT = 10


class Over(Exception):
    """The conversation is over; `ended` says how."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended)
        self.ended: Ended = ended


class Lines:
    """One conversation over a non-blocking socket. `stop` may be called from another thread; all else from one."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._wake, self._waker = os.pipe()
        self._stopped = threading.Event()
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._wake, selectors.EVENT_READ)
        self._selector.register(sock, selectors.EVENT_READ)
        self._buffer = bytearray()
        self._skipping = False
        self._bytes = self._garbage = 0
        self.notes: list[str] = []

    def stop(self) -> None:
        """Makes every wait end with Over("stopped")."""
        if not self._stopped.is_set():
            self._stopped.set()
            os.write(self._waker, b".")

    def close(self) -> None:
        """Frees what was opened here; the socket stays open."""
        self._selector.close()
        os.close(self._wake)
        os.close(self._waker)

    def receive(self, until: float) -> dict[str, Any]:
        """The next message. Raises Over when there will be none before `until` (monotonic seconds)."""
        while True:
            line = self._line()
            if line is None:
                self._await(until, selectors.EVENT_READ)
                self._read()
                continue
            message = _parse(line)
            if message is not None:
                return message
            if line.strip():
                self.complain("a line that is no message")

    def send(self, message: dict[str, Any], until: float) -> None:
        """Sends one message. Raises Over when the other end does not take it before `until`."""
        data = memoryview(json.dumps(message).encode() + b"\n")
        while data:
            try:
                data = data[self._sock.send(data) :]
            except BlockingIOError:
                self._await(until, selectors.EVENT_WRITE)

    def note(self, text: str) -> None:
        """Keeps a remark for graders; a few of them."""
        if len(self.notes) < _NOTES_LIMIT and text not in self.notes:
            self.notes.append(text)

    def complain(self, text: str) -> None:
        """Notes a line that was of no use. Raises Over when there have been too many."""
        self.note(text)
        self._garbage += 1
        if self._garbage > GARBAGE_LIMIT:
            raise Over("garbled")

    def _line(self) -> bytes | None:
        """A whole line from the buffer; what is too long is skipped up to its end."""
        while True:
            end = self._buffer.find(b"\n")
            if end < 0:
                if len(self._buffer) > LINE_LIMIT or self._skipping:
                    self._skipping = True
                    self._buffer.clear()
                return None
            line = bytes(self._buffer[:end])
            del self._buffer[: end + 1]
            if self._skipping or len(line) > LINE_LIMIT:
                self._skipping = False
                self.complain(f"a line of more than {LINE_LIMIT} bytes")
                continue
            return line

    def _read(self) -> None:
        try:
            data = self._sock.recv(LINE_LIMIT)
        except BlockingIOError:
            return
        if not data:
            raise Over("closed")
        self._bytes += len(data)
        if self._bytes > TALK_LIMIT:
            self.note(f"more than {TALK_LIMIT} bytes in one cell: no longer listened to")
            raise Over("garbled")
        self._buffer += data

    def _await(self, until: float, event: int) -> None:
        """Waits until the socket is ready. Raises Over at the time limit or when stopped."""
        self._selector.modify(self._sock, event)
        while not self._stopped.is_set():
            left = until - time.monotonic()
            if left <= 0:
                raise Over("late")
            if any(ready.fileobj is self._sock for ready, _ in self._selector.select(left)):
                return
        raise Over("stopped")


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, numbers of thousands of digits, deep nesting
        return None
    if not isinstance(message, dict) or not isinstance(message.get("op"), str):
        return None
    ident = message.get("id")
    # it is sent back: nothing that is long, or nested deeper than can be written
    short = ident is None or isinstance(ident, int) or (isinstance(ident, str) and len(ident) <= 100)
    return message if short else None
