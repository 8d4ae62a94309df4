"""The reader of ZMTP at peers of every kind: libzmq itself, noise, and those that would grow or stop who reads."""

from __future__ import annotations

import contextlib
import itertools
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
import zmq
from hypothesis import given
from hypothesis import strategies as st

from autograder.sandbox.zmtp import (
    COMMAND,
    FRAMES,
    KEPT,
    MESSAGE,
    READ,
    UNSENT,
    Broken,
    Command,
    Connection,
    Message,
    Reader,
)

GREETING = b"\xff" + b"padding." + b"\x7f\x03\x01" + b"NULL" + bytes(16 + 32)
READY = b"\x04\x06\x05READY"
HELD = KEPT + READ + COMMAND  # what one reader may hold

messages = st.lists(st.lists(st.binary(max_size=600), min_size=1, max_size=5), max_size=5)
noise = st.one_of(
    st.binary(max_size=400),
    st.lists(
        st.sampled_from(
            [
                b"\x00\x01a",
                b"\x01\x00",
                b"\x02" + bytes(7) + b"\x03abc",
                b"\x03" + b"\x7f" + b"\xff" * 7,
                READY,
                b"\x04\x00",
                b"\x04\x01\x05",
                b"\x05\x02\x01x",
                b"\x04\x07\x04PING\x00\x00",
                b"\x06" + bytes(6) + b"\x10\x00",
                b"\x80\x00",
            ]
        ),
        max_size=30,
    ).map(b"".join),
)


def _read(stream: bytes, cuts: list[int]) -> tuple[list[Message | Command], bool]:
    """What a reader makes of `stream` cut at `cuts`, and whether it held out to the end."""
    reader = Reader()
    found: list[Message | Command] = []
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    for start, end in itertools.pairwise(edges):
        reader.feed(stream[start:end])
        try:
            while (one := reader.next()) is not None:
                found.append(one)
        except Broken:
            return found, False
        assert reader.held() <= HELD
    return found, True


def _frame(body: bytes, flags: int, *, long: bool) -> bytes:
    if long or len(body) > 255:
        return bytes([flags | 2]) + len(body).to_bytes(8, "big") + body
    return bytes([flags, len(body)]) + body


@given(messages, st.lists(st.integers(0, 1 << 16), max_size=20), st.booleans())
def test_messages_come_as_they_were_sent_however_they_were_split(
    sent: list[list[bytes]], cuts: list[int], long: bool
) -> None:
    stream = GREETING + b"".join(
        _frame(body, number < len(frames) - 1, long=long)
        for frames in sent
        for number, body in enumerate(frames)
    )
    found, whole = _read(stream, cuts)
    assert whole
    assert found == [Message(tuple(frames), tuple(map(len, frames))) for frames in sent]


@given(st.booleans(), noise, st.lists(st.integers(0, 1 << 16), max_size=20))
def test_noise_ends_a_connection_or_is_read_and_splits_do_not_matter(
    greeted: bool, data: bytes, cuts: list[int]
) -> None:
    stream = GREETING + data if greeted else data
    assert _read(stream, cuts) == _read(stream, [])


@pytest.mark.parametrize("body", [b"", b"x" * 255, b"x" * 60_000])
def test_a_message_without_end_is_ended(body: bytes) -> None:
    reader = Reader()
    reader.feed(GREETING)
    part = _frame(body, 1, long=False)
    most = 0
    with pytest.raises(Broken, match="a message of more than"):
        for _ in range(MESSAGE // len(part) + FRAMES):
            reader.feed(part)
            assert reader.next() is None
            most = max(most, reader.held())
    assert most <= HELD


def test_of_a_message_too_large_to_keep_the_lengths_are_known() -> None:
    reader = Reader()
    size = 60 << 20
    reader.feed(GREETING + b"\x01\x03top" + b"\x03" + size.to_bytes(8, "big"))
    assert reader.next() is None
    for _ in range(size // READ):
        reader.feed(bytes(READ))
        assert reader.next() is None or reader.held() == 0
        assert reader.held() <= HELD
    reader.feed(b"\x00\x04last")
    assert reader.next() == Message((b"top", b"", b"last"), (3, size, 4))


@pytest.mark.parametrize(
    "data",
    [
        b"\x02" + (MESSAGE + 1).to_bytes(8, "big"),
        b"\x03" + b"\xff" * 8,
        b"\x06" + (COMMAND + 1).to_bytes(8, "big"),
        b"\x04\x00",
        b"\x04\x03\x05RE",
        b"\x05\x06\x05READY",
        b"\x08\x00",
    ],
)
def test_what_is_no_frame_is_told_before_its_body_comes(data: bytes) -> None:
    reader = Reader()
    reader.feed(GREETING + data)
    with pytest.raises(Broken):
        reader.next()


@pytest.mark.parametrize(
    "hello",
    [
        bytes(64),
        GREETING.replace(b"NULL", b"CURVE")[:64],
        GREETING.replace(b"\x7f\x03", b"\x7f\x01"),
        b"GET / HTTP/1.1\r\n" * 4,
    ],
)
def test_another_protocol_is_refused(hello: bytes) -> None:
    reader = Reader()
    reader.feed(hello)
    with pytest.raises(Broken, match="greeting"):
        reader.next()


# -- connections ------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _pair() -> Iterator[tuple[Connection, socket.socket]]:
    ours, theirs = socket.socketpair()
    connection = Connection(ours, "DEALER")
    theirs.settimeout(30)
    with theirs:
        yield connection, theirs
    connection.close()


def test_a_peer_that_never_reads_stops_nobody_and_holds_little() -> None:
    with _pair() as (connection, theirs):
        theirs.sendall(GREETING + READY)
        assert connection.receive() is None
        sent = 0
        while connection.send([b"x" * (1 << 20)]):
            sent += 1
            assert connection.held() <= UNSENT + READ
        assert UNSENT >> 20 <= sent + 1 < 100
        for _ in range(200):  # pings are answered within the same bound
            theirs.sendall(b"\x04\x07\x04PING\x00\x01" * 1000)
            assert connection.receive() is None
            assert connection.held() <= UNSENT + READ
        assert not connection.ended


def test_nothing_is_sent_of_a_message_that_does_not_fit() -> None:
    with _pair() as (connection, theirs):
        assert not connection.send([b"small", bytes(UNSENT)])
        theirs.sendall(GREETING + READY)
        assert connection.receive() is None
        assert connection.send([b"next"])
        heard = theirs.recv(1 << 16)
        assert heard.endswith(b"\x00\x04next") and b"small" not in heard


def test_a_ping_is_answered_with_what_it_brought() -> None:
    with _pair() as (connection, theirs):
        theirs.sendall(GREETING + READY + b"\x04\x0a\x04PING\x00\x01abc" + b"\x00\x02hi")
        found = connection.receive()
        assert found is not None and found.frames == (b"hi",)
        assert theirs.recv(1 << 16).endswith(b"\x04\x08\x04PONGabc")


@pytest.mark.parametrize(
    "said",
    [
        GREETING + b"\x00\x02hi",  # a message before READY
        GREETING + READY + READY,
        GREETING + b"\x04\x08\x05ERROR\x01x",
        GREETING + b"\x04\x07\x04PING\x00\x01",
        GREETING + READY + b"\x04\x0b\x09SUBSCRIBEx",
        bytes(64),
    ],
)
def test_what_breaks_the_protocol_ends_the_connection(said: bytes) -> None:
    with _pair() as (connection, theirs):
        theirs.sendall(said)
        assert connection.receive() is None
        assert connection.ended and connection.held() == 0
        assert not connection.send([b"x"]) and connection.receive() is None


@pytest.mark.parametrize("length", [0, 1, 10, 63, 64, 70, 73])
def test_a_peer_that_hangs_up_in_the_middle_is_noticed(length: int) -> None:
    with _pair() as (connection, theirs):
        theirs.sendall((GREETING + READY + b"\x01\x05half a message")[:length])
        for _ in range(3):
            assert connection.receive() is None and not connection.ended
        theirs.shutdown(socket.SHUT_WR)
        assert connection.receive() is None
        assert connection.ended


# -- libzmq at the other end ------------------------------------------------------


@contextlib.contextmanager
def _libzmq(folder: Path, theirs: int, ours: str) -> Iterator[tuple[Connection, zmq.Socket[bytes]]]:
    with zmq.Context() as context, context.socket(theirs) as peer:
        peer.linger = 0
        peer.setsockopt(zmq.HEARTBEAT_IVL, 10)
        peer.setsockopt(zmq.HEARTBEAT_TIMEOUT, 20_000)
        peer.bind(f"ipc://{folder}/s")
        sock = socket.socket(socket.AF_UNIX)
        sock.connect(f"{folder}/s")
        connection = Connection(sock, "SUB" if ours == "SUB" else "DEALER")
        yield connection, peer
        connection.close()


def _receive(connection: Connection, peer: zmq.Socket[bytes]) -> Message:
    for _ in range(3000):
        found = connection.receive()
        if found is not None:
            return found
        assert not connection.ended
        peer.poll(10)
        connection.flush()
    raise AssertionError("nothing came")


SENT = [[b""], [b"one", b"", b"x" * 255], [b"x" * 256, b"y" * 70_000], [b"z" * (3 << 20)]]


def test_a_router_of_libzmq_is_talked_to_both_ways(tmp_path: Path) -> None:
    with _libzmq(tmp_path, zmq.ROUTER, "DEALER") as (connection, peer):
        for frames in SENT:
            assert connection.send(frames)
            while not peer.poll(20):
                assert connection.receive() is None  # the handshake, and pings in between
                connection.flush()
            who, *heard = peer.recv_multipart()
            assert heard == frames
            peer.send_multipart([who, *heard])
            assert _receive(connection, peer).frames == tuple(frames)


def test_a_publisher_of_libzmq_is_subscribed_to(tmp_path: Path) -> None:
    with _libzmq(tmp_path, zmq.XPUB, "SUB") as (connection, peer):
        while not peer.poll(20):
            assert connection.receive() is None
        assert peer.recv() == b"\x01"
        for frames in SENT:
            peer.send_multipart(frames)
            assert _receive(connection, peer).frames == tuple(frames)
