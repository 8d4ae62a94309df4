"""The judge's end of the socket to a kernel. Everything that comes in is hostile until read; the judge always ends.

Messages come through `lines`, capped and timed; the kernel's are submit, value and raised (learner/wire.py). One
conversation a cell, one answer a part: the first submit of the right exercise counts, a submit of another is told so,
and answers to calls never made are dropped.
"""

from __future__ import annotations

import socket
import threading
import time
from typing import Any

from autograder.judge.exercise import functions
from autograder.judge.heard import NOTHING, Ended, Heard, Result
from autograder.judge.key import Key
from autograder.judge.lines import LINE_LIMIT, TALK_LIMIT, Lines, Over
from autograder.learner import units
from autograder.learner.draw import LEARNER
from autograder.learner.values import Malformed, Value, decode

NAMES_LIMIT = 64
GRACE = 1.0
"""Seconds beyond a function's own limit that its answer may take, and that `finish` waits at most for the thread."""

__all__ = ["Heard", "Result", "Talk"]


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
        self._lines = Lines(sock)
        self._key = key
        self._seed = seed
        self._deadline = time.monotonic() + seconds
        self._function_seconds = function_seconds
        self._calls = 0
        self._ident: Any = None
        self._pending: dict[str, Any] | None = None
        self._submitted = self._done = False
        self._answers: dict[str, Value] = {}
        self._results: dict[str, tuple[Result, ...]] = {}
        self._ended: Ended = "silent"

    def stop(self) -> None:
        """Asks the thread to end; callable from another thread."""
        self._lines.stop()

    def close(self) -> None:
        """Frees the pipe; only when the thread has ended."""
        self._lines.close()

    def heard(self, *, alive: bool) -> Heard:
        return Heard(
            submitted=self._submitted,
            answers=dict(self._answers),
            results=dict(self._results),
            ended="broken" if alive else self._ended,
            notes=tuple(self._lines.notes),
        )

    def run(self) -> None:
        """Listens until the cell is over. Always ends."""
        try:
            self._listen()
        except Over as over:
            self._end(over.ended if over.ended != "stopped" or self._submitted else "silent")
        except OSError:
            self._end("closed")
        except Exception as error:  # our own mistake, or the key's: the verdict says blocked, and nobody pays
            self._ended = "broken"
            self._lines.note(f"the judge's own error: {error!r}")

    def _end(self, ended: Ended) -> None:
        self._ended = "done" if self._done else ended

    def _listen(self) -> None:
        while True:
            message = self._pending or self._lines.receive(self._deadline)
            self._pending = None
            if message.get("op") != "submit":
                self._lines.complain(f"a message out of turn: {units.clip(message['op'])}")
                continue
            said = self._submit(message)
            # once done, what follows in this cell is answered, so that nothing hangs, and changes nothing
            self._done = self._submitted
            self._lines.send({"op": "done", "id": message.get("id"), "said": said}, self._soon())

    def _submit(self, message: dict[str, Any]) -> str:
        if self._key is None:
            return "recorded"
        exercise = units.clip(message["exercise"]) if isinstance(message.get("exercise"), str) else "?"
        if exercise != self._key.exercise:
            self._lines.note(f"a submit of exercise {exercise} in the cell of {self._key.exercise}")
            return f"not recorded: this cell is for exercise {self._key.exercise}"
        if self._submitted:
            self._lines.note("submitted again: the first counts")
            return "recorded already"
        answers = message.get("answers")
        if not isinstance(answers, dict) or len(answers) > NAMES_LIMIT:
            self._lines.note("a submit without answers")
            return "not recorded: no answers came"
        self._submitted = True
        bare = {part.name.split("/")[0] for part in self._key.parts}
        wanted = {part.name for part in self._key.parts} | bare | {f"{name}/{LEARNER}" for name in bare}
        for name in wanted & answers.keys():
            try:
                self._answers[name] = decode(answers[name])
            except Malformed as problem:
                self._answers[name] = Value("other", "unreadable")
                self._lines.note(f"{name}: {problem}")
        self._ident = message.get("id")
        try:
            for part in functions(self._key):
                if self._answers.get(part.name, Value("missing")).kind == "function":
                    self._call_all(part.name, part.inputs(self._seed))
        except _Abandoned:
            self._lines.note("submitted anew before all calls were answered")
        return "recorded"

    def _call_all(self, name: str, inputs: tuple[dict[str, Any], ...]) -> None:
        """Calls one function with every input; stops at the first that is not written yet or takes too long."""
        for args in inputs:
            result = self._call(name, args)
            self._results[name] = (*self._results.get(name, ()), result)
            if result.timeout or (result.kind == "NotImplementedError" and len(self._results[name]) == 1):
                return

    def _soon(self) -> float:
        """When the kernel has had time enough for one answer."""
        return min(self._deadline, time.monotonic() + self._function_seconds + GRACE)

    def _call(self, name: str, args: dict[str, Any]) -> Result:
        self._calls += 1
        until = self._soon()
        head = {"op": "call", "id": self._ident, "call": self._calls, "name": name}
        self._lines.send({**head, "args": args, "seconds": self._function_seconds}, until)
        while True:
            try:
                message = self._lines.receive(until)
            except Over as over:
                if over.ended == "late" and time.monotonic() < self._deadline:
                    return Result(kind="TimeoutError")
                raise
            ours = (message.get("id"), message.get("call")) == (self._ident, self._calls)
            if ours and message.get("op") == "value":
                try:
                    return Result(decode(message.get("value")))
                except Malformed as problem:
                    self._lines.note(f"{name}: {problem}")
                    return Result(Value("other", "unreadable"))
            if ours and message.get("op") == "raised":
                return Result(
                    kind=_word(message.get("kind")) or "Exception", text=_word(message.get("text"), 200)
                )
            if message.get("op") == "submit" and message.get("id") != self._ident:
                self._pending = message
                raise _Abandoned
            self._lines.complain("an answer to a call that was not made: dropped")


def _word(text: object, length: int = 40) -> str:
    return units.clip(text, length) if isinstance(text, str) else ""
