"""ZMTP 3 (RFC 23 and 37, mechanism NULL) over a connected stream socket whose other end is hostile.

Written here because libzmq bounds a frame and not a message, so that whoever sends frames without end grows the
process that reads. There is no thread, no queue and no socket option below this: what a connection holds stands in
`Reader` and in `Connection.send`, and both are bounded. What is not ZMTP, or too much, ends the connection.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Iterable
from typing import Literal, NamedTuple

READ = 64 << 10  # bytes taken from a socket at a time, and only when no whole message is waiting
KEPT = 9 << 20  # bytes of one message that are kept; of a frame that does not fit any more only the length is
MESSAGE = 64 << 20  # bytes one message may have
FRAMES = 1024  # frames one message may have
COMMAND = 4 << 10  # bytes one command may have
UNSENT = 16 << 20  # bytes that wait for a peer which does not read

_MORE, _LONG, _COMMAND = 1, 2, 4
_GREETING = 64
# We announce 3.0: a later peer must speak it too, and there a subscription is a message like any other.
_HELLO = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)


class Broken(Exception):
    """The other end sent what is not ZMTP, or more than is taken."""


class Message(NamedTuple):
    """`frames[i]` has `lengths[i]` bytes, or is empty where there was no room to keep it."""

    frames: tuple[bytes, ...]
    lengths: tuple[int, ...]


class Command(NamedTuple):
    """A frame for the protocol itself, such as READY or PING."""

    name: bytes
    data: bytes


class Reader:
    """Cuts a stream of bytes into messages and commands, however it was split on its way."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._greeted = False
        self._flags = -1  # of the frame whose body is being read; -1 between two frames
        self._left = 0  # bytes of that body which have not come
        self._keep = True
        self._body = bytearray()
        self._frames: list[bytes] = []
        self._lengths: list[int] = []
        self._kept = self._total = 0

    def feed(self, data: bytes) -> None:
        """Takes what was read; ask `next` until it gives None before the next call, or the buffer grows."""
        self._buffer += data

    def held(self) -> int:
        """Bytes held at this moment."""
        return len(self._buffer) + len(self._body) + self._kept

    def next(self) -> Message | Command | None:
        """What has come whole, one at a time; None when more has to come first. Raises Broken."""
        if not self._greeted and not self._greeting():
            return None
        while self._flags >= 0 or self._head():
            room = self._buffer[: self._left]
            if self._keep:
                self._body += room
            del self._buffer[: len(room)]
            self._left -= len(room)
            if self._left:
                return None
            body, flags = bytes(self._body), self._flags
            self._body.clear()
            self._flags = -1
            if flags & _COMMAND:
                return _command(body)
            self._frames.append(body)
            self._kept += len(body)
            if not flags & _MORE:
                return self._whole()
        return None

    def _greeting(self) -> bool:
        if len(self._buffer) < _GREETING:
            return False
        hello = bytes(self._buffer[:_GREETING])
        del self._buffer[:_GREETING]
        # the padding between the two ends of the signature is not significant, nor is what follows the mechanism
        if hello[0] != 0xFF or hello[9] != 0x7F or hello[10] < 3 or hello[12:32] != _HELLO[12:32]:
            raise Broken("no greeting of ZMTP 3 with the mechanism NULL")
        self._greeted = True
        return True

    def _head(self) -> bool:
        """Reads flags and length of the next frame; False when they have not come."""
        if not self._buffer:
            return False
        flags = self._buffer[0]
        if flags & ~(_MORE | _LONG | _COMMAND) or (flags & _COMMAND and flags & _MORE):
            raise Broken(f"a frame with the flags {flags:#x}")
        size = 9 if flags & _LONG else 2
        if len(self._buffer) < size:
            return False
        length = int.from_bytes(self._buffer[1:size], "big")
        del self._buffer[:size]
        if flags & _COMMAND:
            if length > COMMAND:
                raise Broken(f"a command of {length} bytes")
            self._keep = True
        else:
            self._total += length
            self._lengths.append(length)
            if self._total > MESSAGE or len(self._lengths) > FRAMES:
                raise Broken(f"a message of more than {MESSAGE} bytes or {FRAMES} frames")
            self._keep = self._kept + length <= KEPT
        self._flags, self._left = flags, length
        return True

    def _whole(self) -> Message:
        message = Message(tuple(self._frames), tuple(self._lengths))
        self._frames.clear()
        self._lengths.clear()
        self._kept = self._total = 0
        return message


class Connection:
    """One channel over `sock`, which is taken over. `kind` is our side: "SUB" subscribes to everything.

    Never blocks. `ended` is true once the other end hung up or broke the protocol.
    """

    def __init__(self, sock: socket.socket, kind: Literal["DEALER", "SUB"]) -> None:
        sock.setblocking(False)
        self._socket = sock
        self._reader = Reader()
        self._ready = False
        self.ended = False
        ready = _named(b"READY") + _property(b"Socket-Type", kind.encode())
        self._unsent = bytearray(_HELLO + _frame(_COMMAND, ready))
        # libzmq hangs up on a message that comes before it has sent its own READY
        self._until_ready = bytearray(_frame(0, b"\x01") if kind == "SUB" else b"")
        self.flush()

    def close(self) -> None:
        """Hangs up, and drops what is held."""
        self.ended = True
        self._socket.close()
        self._reader = Reader()
        self._unsent.clear()
        self._until_ready.clear()

    def send(self, frames: Iterable[bytes]) -> bool:
        """Queues one message and sends what the peer takes at once. False when the peer has left too much unread: then
        nothing of it is sent.
        """
        *first, last = frames
        data = b"".join([*(_frame(_MORE, frame) for frame in first), _frame(0, last)])
        if self.ended or len(self._unsent) + len(self._until_ready) + len(data) > UNSENT:
            return False
        waiting = self._unsent if self._ready else self._until_ready
        waiting += data
        self.flush()
        return True

    def flush(self) -> None:
        """Sends what waits, as far as the peer takes it."""
        try:
            while self._unsent and not self.ended:
                del self._unsent[: self._socket.send(self._unsent[:READ])]
        except BlockingIOError:
            pass
        except OSError:  # hung up; what it said before may still be read
            self._unsent.clear()

    def register(self, poll: select.poll) -> None:
        """Has `poll` report when there is something to read, or to send what waits."""
        if not self.ended:
            poll.register(self._socket, select.POLLIN | (select.POLLOUT if self._unsent else 0))

    def receive(self) -> Message | None:
        """The next message, from at most `READ` bytes more of the socket; None when none is whole yet."""
        if self.ended:
            return None
        try:
            found = self._next()
            if found is None:
                self._read()
                found = self._next()
            return found
        except BlockingIOError:
            return None
        except (Broken, OSError):
            self.close()
            return None

    def held(self) -> int:
        """Bytes held at this moment, both ways."""
        return self._reader.held() + len(self._unsent) + len(self._until_ready)

    def _read(self) -> None:
        data = self._socket.recv(READ)
        if not data:
            raise Broken("hung up")
        self._reader.feed(data)

    def _next(self) -> Message | None:
        while isinstance(found := self._reader.next(), Command):
            self._obey(found)
        if found is not None and not self._ready:
            raise Broken("a message before READY")
        return found

    def _obey(self, command: Command) -> None:
        if command.name == b"READY" and not self._ready:
            self._ready = True  # with properties that we would not believe anyway
            self._unsent += self._until_ready
            self._until_ready.clear()
        elif command.name == b"PING" and self._ready and len(command.data) >= 2:
            # behind two bytes, the time to live, stands what is to be sent back
            pong = _frame(_COMMAND, _named(b"PONG") + command.data[2:18])
            if len(self._unsent) + len(pong) <= UNSENT:
                self._unsent += pong
        elif command.name != b"PONG" or not self._ready:
            raise Broken(f"the command {command.name!r}")
        self.flush()


def _frame(flags: int, body: bytes) -> bytes:
    if len(body) < 256:
        return bytes((flags, len(body))) + body
    return bytes((flags | _LONG,)) + len(body).to_bytes(8, "big") + body


def _named(name: bytes) -> bytes:
    return bytes((len(name),)) + name


def _property(name: bytes, value: bytes) -> bytes:
    return _named(name) + len(value).to_bytes(4, "big") + value


def _command(body: bytes) -> Command:
    size = body[0] if body else 0
    if not size or len(body) < 1 + size:
        raise Broken("a command without a name")
    return Command(body[1 : 1 + size], body[1 + size :])
