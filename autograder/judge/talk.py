"""The judge's end of the socket to a kernel. Everything that comes in is hostile until read; the judge always ends.

A line is at most 64 KiB, a conversation at most 4 MiB and 200 lines that are no message; every wait has an end. The
kernel's messages (learner/wire.py): submit, value, raised. One conversation a cell, one answer a part: the first
submit of the right exercise counts, a submit of another is told so, and answers to calls never made are dropped.
"""

from __future__ import annotations

import json
import os
import selectors
import socket
import threading
import time
from typing import Any

from autograder.judge.exercise import functions
from autograder.judge.heard import NOTHING, Ended, Heard, Result
from autograder.judge.key import Key
from autograder.learner import units
from autograder.learner.values import Malformed, Value, decode

LINE_LIMIT = 64 * 1024
TALK_LIMIT = 4 * 1024 * 1024
"""Bytes a kernel may say in one conversation."""
GARBAGE_LIMIT = 200
"""Lines that are no message before the judge stops listening."""
NAMES_LIMIT = 64
GRACE = 1.0
"""Seconds beyond a function's own limit that its answer may take, and that `finish` waits at most for the thread."""

__all__ = ["Heard", "Result", "Talk"]


class _Over(Exception):
    """The conversation is over; `ended` says how."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended)
        self.ended: Ended = ended


class _Abandoned(Exception):
    """The kernel began another submit instead of answering a call: the cell was interrupted and went on."""


class Talk:
    """The judge's end of one kernel's socket; one object a kernel, one conversation (`start` … `finish`) a cell.

    `function_seconds` is what one call of a learner's function may take. Use from one thread; the listening happens
    in another. Nothing the kernel sends raises here.
    """

    def __init__(self, sock: socket.socket, *, function_seconds: float = 5.0) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._function_seconds = function_seconds
        self._conversation: _Conversation | None = None
        self._thread: threading.Thread | None = None

    def start(self, key: Key | None, *, seed: bytes = b"", seconds: float = 60.0) -> None:
        """Drops whatever was sent before and listens for the exercise of `key`, at most `seconds` long. With None
        every submit is answered and forgotten.
        """
        if self._thread is not None:
            raise RuntimeError("a conversation is going on: call finish() first")
        self._drop()
        self._conversation = _Conversation(self._sock, key, seed, seconds, self._function_seconds)
        self._thread = threading.Thread(target=self._conversation.run, name="talk", daemon=True)
        self._thread.start()

    def finish(self) -> Heard:
        """Ends the conversation, within about a second, and returns what it brought."""
        if self._thread is None or self._conversation is None:
            return NOTHING
        self._conversation.stop()
        self._thread.join(GRACE + 1)
        heard = self._conversation.heard(alive=self._thread.is_alive())
        if not self._thread.is_alive():
            self._conversation.close()
        self._thread = self._conversation = None
        return heard

    def close(self) -> None:
        """Hangs up."""
        self.finish()
        self._sock.close()

    def _drop(self) -> None:
        """Reads away what the kernel sent before; a kernel that never stops sending is dropped up to a bound."""
        for _ in range(TALK_LIMIT // LINE_LIMIT):
            try:
                if not self._sock.recv(LINE_LIMIT):
                    return
            except OSError:  # nothing there, or the kernel has gone
                return


class _Conversation:
    """One cell's talk, run in a thread of its own."""

    def __init__(
        self, sock: socket.socket, key: Key | None, seed: bytes, seconds: float, function_seconds: float
    ) -> None:
        self._sock = sock
        self._key = key
        self._seed = seed
        self._deadline = time.monotonic() + seconds
        self._function_seconds = function_seconds
        self._wake, self._waker = os.pipe()
        self._stopped = threading.Event()
        self._buffer = bytearray()
        self._skipping = False
        self._bytes = self._garbage = self._calls = 0
        self._ident: Any = None
        self._pending: dict[str, Any] | None = None
        self._submitted = self._done = False
        self._answers: dict[str, Value] = {}
        self._results: dict[str, tuple[Result, ...]] = {}
        self._notes: list[str] = []
        self._ended: Ended = "silent"

    def stop(self) -> None:
        """Asks the thread to end; callable from another thread."""
        if not self._stopped.is_set():
            self._stopped.set()
            os.write(self._waker, b".")

    def close(self) -> None:
        """Frees the pipe; only when the thread has ended."""
        os.close(self._wake)
        os.close(self._waker)

    def heard(self, *, alive: bool) -> Heard:
        return Heard(
            submitted=self._submitted,
            answers=dict(self._answers),
            results=dict(self._results),
            ended="broken" if alive else self._ended,
            notes=tuple(self._notes),
        )

    def run(self) -> None:
        """Listens until the cell is over. Always ends."""
        try:
            with selectors.DefaultSelector() as self._selector:
                self._selector.register(self._wake, selectors.EVENT_READ)
                self._selector.register(self._sock, selectors.EVENT_READ)
                self._listen()
        except _Over as over:
            self._end(over.ended if over.ended != "stopped" or self._submitted else "silent")
        except OSError:
            self._end("closed")
        except Exception as error:  # our own mistake, or the key's: the verdict says blocked, and nobody pays
            self._ended = "broken"
            self._note(f"the judge's own error: {error!r}")

    def _end(self, ended: Ended) -> None:
        self._ended = "done" if self._done else ended

    def _listen(self) -> None:
        while True:
            message = self._pending or self._receive(self._deadline)
            self._pending = None
            if message.get("op") != "submit":
                self._note(f"a message out of turn: {units.clip(str(message.get('op')))}")
                self._count_garbage()
                continue
            said = self._submit(message)
            # once done, what follows in this cell is answered, so that nothing hangs, and changes nothing
            self._done = self._submitted
            self._send({"op": "done", "id": message.get("id"), "said": said})

    def _submit(self, message: dict[str, Any]) -> str:
        if self._key is None:
            return "recorded"
        exercise = message.get("exercise")
        if exercise != self._key.exercise:
            self._note(
                f"a submit of exercise {units.clip(str(exercise))} in the cell of {self._key.exercise}"
            )
            return f"not recorded: this cell is for exercise {self._key.exercise}"
        if self._submitted:
            self._note("submitted again: the first counts")
            return "recorded already"
        answers = message.get("answers")
        if not isinstance(answers, dict) or len(answers) > NAMES_LIMIT:
            self._note("a submit without answers")
            return "not recorded: no answers came"
        self._submitted = True
        wanted = {part.name for part in self._key.parts} | {
            part.name.split("/")[0] for part in self._key.parts
        }
        for name in wanted & answers.keys():
            try:
                self._answers[name] = decode(answers[name])
            except Malformed as problem:
                self._answers[name] = Value("other", "unreadable")
                self._note(f"{name}: {problem}")
        self._ident = message.get("id")
        try:
            for part in functions(self._key):
                if self._answers.get(part.name, Value("missing")).kind == "function":
                    self._call_all(part.name, part.inputs(self._seed))
        except _Abandoned:
            self._note("submitted anew before all calls were answered")
        return "recorded"

    def _call_all(self, name: str, inputs: tuple[dict[str, Any], ...]) -> None:
        """Calls one function with every input; stops at the first that is not written yet or takes too long."""
        for args in inputs:
            result = self._call(name, args)
            self._results[name] = (*self._results.get(name, ()), result)
            if result.timeout or (result.kind == "NotImplementedError" and len(self._results[name]) == 1):
                return

    def _call(self, name: str, args: dict[str, Any]) -> Result:
        self._calls += 1
        until = min(self._deadline, time.monotonic() + self._function_seconds + GRACE)
        head = {"op": "call", "id": self._ident, "call": self._calls, "name": name}
        self._send({**head, "args": args, "seconds": self._function_seconds})
        while True:
            try:
                message = self._receive(until)
            except _Over as over:
                if over.ended == "late" and time.monotonic() < self._deadline:
                    return Result(kind="TimeoutError")
                raise
            ours = (message.get("id"), message.get("call")) == (self._ident, self._calls)
            if ours and message.get("op") == "value":
                try:
                    return Result(decode(message.get("value")))
                except Malformed as problem:
                    self._note(f"{name}: {problem}")
                    return Result(Value("other", "unreadable"))
            if ours and message.get("op") == "raised":
                return Result(
                    kind=_word(message.get("kind")) or "Exception", text=_word(message.get("text"), 200)
                )
            if message.get("op") == "submit" and message.get("id") != self._ident:
                self._pending = message
                raise _Abandoned
            self._note("an answer to a call that was not made: dropped")
            self._count_garbage()

    # --- lines ---------------------------------------------------------------------------------------------------

    def _receive(self, until: float) -> dict[str, Any]:
        """The next message. Raises _Over when there will be none."""
        while True:
            line = self._line()
            if line is not None:
                message = _parse(line)
                if message is not None:
                    return message
                if line.strip():
                    self._note("a line that is no message")
                    self._count_garbage()
                continue
            self._await(until, selectors.EVENT_READ)
            self._read()

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
                self._note(f"a line of more than {LINE_LIMIT} bytes")
                self._count_garbage()
                continue
            return line

    def _read(self) -> None:
        try:
            data = self._sock.recv(LINE_LIMIT)
        except BlockingIOError:
            return
        if not data:
            raise _Over("closed")
        self._bytes += len(data)
        if self._bytes > TALK_LIMIT:
            self._note(f"more than {TALK_LIMIT} bytes in one cell: no longer listened to")
            raise _Over("garbled")
        self._buffer += data

    def _send(self, message: dict[str, Any]) -> None:
        data = memoryview(json.dumps(message).encode() + b"\n")
        until = min(self._deadline, time.monotonic() + self._function_seconds + GRACE)
        while data:
            try:
                data = data[self._sock.send(data) :]
            except BlockingIOError:
                self._await(until, selectors.EVENT_WRITE)

    def _await(self, until: float, event: int) -> None:
        """Waits until the socket is ready. Raises _Over at the time limit or when stopped."""
        self._selector.modify(self._sock, event)
        while not self._stopped.is_set():
            left = until - time.monotonic()
            if left <= 0:
                raise _Over("late")
            if any(ready.fileobj is self._sock for ready, _ in self._selector.select(left)):
                return
        raise _Over("stopped")

    def _count_garbage(self) -> None:
        self._garbage += 1
        if self._garbage > GARBAGE_LIMIT:
            raise _Over("garbled")

    def _note(self, text: str) -> None:
        if len(self._notes) < 10 and text not in self._notes:
            self._notes.append(text)


def _parse(line: bytes) -> dict[str, Any] | None:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):  # no JSON, no UTF-8, numbers of thousands of digits, deep nesting
        return None
    return message if isinstance(message, dict) else None


def _word(text: object, length: int = 40) -> str:
    return units.clip(text, length) if isinstance(text, str) else ""
