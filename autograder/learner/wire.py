"""The kernel's end of the talk with the judge: JSON lines over one inherited stream socket.

    kernel -> judge   {"op": "submit", "id": "1", "exercise": "2.1", "answers": {name: value}}
    judge  -> kernel  {"op": "call", "id": "1", "call": 1, "name": "formula", "args": {...}, "seconds": 5}
    kernel -> judge   {"op": "value", "id": "1", "call": 1, "value": value}
                   or {"op": "raised", "id": "1", "call": 1, "kind": "ValueError", "text": "..."}
    judge  -> kernel  {"op": "done", "id": "1", "said": "recorded"}

Values are those of `values`. `id` tells a talk from one that an interrupt broke off. Right or wrong is never said.
"""

from __future__ import annotations

import itertools
import json
import os
import socket
import time
from collections.abc import Mapping
from typing import Any

from autograder.learner import calls, values

VARIABLE = "SHARDLAB_JUDGE_FD"
LINE_LIMIT = 64 * 1024
"""Longest line either side takes, in bytes."""
PATIENCE = 20.0
"""Seconds the kernel waits for the judge's next line."""


class NoJudge(RuntimeError):
    """The judge is asked for, and cannot be reached."""


class Line:
    """One end of the socket, with what was received and not yet read."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = b""

    def send(self, message: Mapping[str, Any]) -> None:
        """Sends one line. A leading newline ends whatever an interrupted send left behind. Raises OSError."""
        self._sock.settimeout(PATIENCE)
        self._sock.sendall(b"\n" + json.dumps(message).encode() + b"\n")

    def receive(self) -> dict[str, Any]:
        """The next message. Raises NoJudge when none comes or it is none."""
        ends = time.monotonic() + PATIENCE
        while b"\n" not in self._buffer:
            self._sock.settimeout(max(0.001, ends - time.monotonic()))
            try:
                more = self._sock.recv(LINE_LIMIT)
            except TimeoutError:
                raise NoJudge(f"the judge said nothing for {PATIENCE:g} s") from None
            if not more:
                raise NoJudge("the judge has hung up")
            self._buffer += more
        line, self._buffer = self._buffer.split(b"\n", 1)
        message = json.loads(line)
        if not isinstance(message, dict):
            raise NoJudge("the judge sent something that is no message")
        return message


_line: dict[int, Line] = {}
_ids = itertools.count(1)


def judge() -> Line | None:
    """The line to the judge, None on a learner's own machine. Raises NoJudge when the descriptor is no socket."""
    number = os.environ.get(VARIABLE)
    if not number:
        return None
    try:
        fd = int(number)
        if fd not in _line:
            os.set_inheritable(fd, False)
            _line[fd] = Line(socket.socket(fileno=fd))
    except (ValueError, OSError) as error:
        raise NoJudge(f"{VARIABLE}={number} is no socket: {error}") from None
    return _line[fd]


def submit(line: Line, exercise: str, answers: Mapping[str, Any]) -> str:
    """Hands in `answers` and answers the judge's calls until it is done. What it said last ("recorded").

    Raises NoJudge or OSError when the talk breaks off.
    """
    ident = f"{os.getpid()}-{next(_ids)}"
    coded = _fit({name: values.encode(answer) for name, answer in answers.items()})
    line.send({"op": "submit", "id": ident, "exercise": exercise, "answers": coded})
    while True:
        message = line.receive()
        if message.get("id") != ident:
            continue  # left over from a talk that was interrupted
        if message.get("op") == "done":
            return str(message.get("said", "recorded"))
        if message.get("op") == "call":
            line.send({"id": ident, "call": message["call"], **_call(answers, message)})


def _call(answers: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, Any]:
    result = calls.call(answers[message["name"]], message["args"], float(message["seconds"]))
    if isinstance(result, calls.Raised):
        return {"op": "raised", "kind": result.kind, "text": result.text}
    return {"op": "value", "value": _fit({"": result})[""]}


def _fit(coded: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Replaces the longest values until a line holds them all."""
    sizes = {name: len(json.dumps(value)) + len(json.dumps(name)) for name, value in coded.items()}
    fitted = dict(coded)
    while sum(sizes.values()) > LINE_LIMIT - 1024:
        longest = max(sizes, key=lambda name: sizes[name])
        fitted[longest] = {"x": "answer too large"}
        if sizes[longest] <= 40:
            return {}  # thousands of names: nothing we asked for
        sizes[longest] = 40
    return fitted
