"""The frames that go over a rank's socket: a small JSON header, then raw bytes. No pickle, in either direction.

A frame is 4 bytes header length, 8 bytes payload length (both little-endian, unsigned), the header, the payload.
The headers:

rank to switch
    {"op": "group", "g": 1, "name": "1", "ranks": [1, 3]}     a group this rank belongs to; g is its number from now on
    {"op": "call", "seq": 7, "g": 1, "kind": "all_reduce", ...} one collective, send or receive; payload: the input
    {"op": "wait", "seq": 7}                                  the rank stands still until call 7 is done
    {"op": "look", "seq": 7}                                  somebody asks whether call 7 is done, and goes on
    {"op": "poke", "seq": 7}                                  somebody has taken call 7's future, and may look later
    {"op": "mark", "name": "phase", "values": {...}}          what the probe saw; numbers and short texts
    {"op": "end", "how": "done", "values": {...}}             the last word of a rank; payload: its tensors
switch to rank
    {"op": "start", ...}                                      the task and its inputs; payload: the tensors
    {"op": "done", "seq": 7, "source": 2}                     call 7 is done; payload: the output
    {"op": "error", "seq": 7, "text": "..."}                  call 7 failed
"""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import Sequence
from typing import Any

HEAD = struct.Struct("<IQ")
MAX_HEADER = 1 << 20

Buffer = memoryview | bytes | bytearray


class LineClosed(EOFError):
    """The other end has gone."""


def send_frame(sock: socket.socket, header: dict[str, Any], parts: Sequence[Buffer] = ()) -> None:
    """Sends one frame; `parts` are the pieces of its payload, sent one after another without joining them."""
    text = json.dumps(header, separators=(",", ":")).encode()
    size = sum(memoryview(part).nbytes for part in parts)
    head = HEAD.pack(len(text), size) + text
    try:
        if size <= 1 << 16:
            sock.sendall(b"".join([head, *parts]))
        else:
            sock.sendall(head)
            for part in parts:
                sock.sendall(part)
    except (BrokenPipeError, ConnectionResetError) as error:
        raise LineClosed("the switch has closed the line") from error


def receive_header(sock: socket.socket) -> tuple[dict[str, Any], int]:
    """The next frame's header, and how many bytes of payload follow it on the socket."""
    head = bytearray(HEAD.size)
    receive_into(sock, memoryview(head))
    length, size = HEAD.unpack(head)
    if length > MAX_HEADER:
        raise LineClosed(f"a header of {length} bytes")
    text = bytearray(length)
    receive_into(sock, memoryview(text))
    header = json.loads(bytes(text))
    if not isinstance(header, dict):
        raise LineClosed("a header that is no object")
    return header, size


def receive_into(sock: socket.socket, view: memoryview) -> None:
    """Fills `view` from the socket. Raises LineClosed when the other end goes first."""
    while view.nbytes:
        try:
            count = sock.recv_into(view)
        except ConnectionResetError as error:
            raise LineClosed("the switch has closed the line") from error
        if count == 0:
            raise LineClosed("the switch has closed the line")
        view = view[count:]
