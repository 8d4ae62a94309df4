"""The judge's end of a kernel's sockets: real kernels, one that writes on its sockets itself, peers that hang up."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from typing import Any

import psutil
import pytest
from jupyter_client.session import Session

from autograder.sandbox import channels
from autograder.sandbox.channels import PARSED, Channels, _parse
from autograder.sandbox.kernel import BoxedKernel, _text
from autograder.sandbox.zmtp import KEPT, READ, Message

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x01" + b"NULL" + bytes(16 + 32) + b"\x04\x06\x05READY"
HELD = 3 * (KEPT + READ)  # bytes that three channels may hold while one reads
SECONDS = 100.0


class Peer:
    """The other ends of the three sockets, written to by hand."""

    def __init__(self) -> None:
        pairs = {name: socket.socketpair() for name in ("shell", "control", "iopub")}
        self.ends = {name: pair[1] for name, pair in pairs.items()}
        self.alive = True
        self.channels = Channels({n: pair[0] for n, pair in pairs.items()}, lambda: self.alive, "key")
        self._session = Session(key=b"key")

    def says(self, name: str, kind: str, parent: str, content: dict[str, Any]) -> None:
        message = self._session.msg(kind, content, parent={"msg_id": parent})
        *first, last = self._session.serialize(message, ident=b"topic")
        framed = [bytes([3]) + len(f).to_bytes(8, "big") + f for f in first]
        self.ends[name].sendall(b"".join(framed) + b"\x02" + len(last).to_bytes(8, "big") + last)


@pytest.fixture
def peer() -> Iterator[Peer]:
    made = Peer()
    for end in made.ends.values():
        end.sendall(GREETING)
    yield made
    made.channels.close()
    for end in made.ends.values():
        end.close()


def _wait(peer: Peer, request: str, seconds: float = SECONDS) -> tuple[dict[str, Any] | None, list[str]]:
    heard: list[str] = []
    reply = peer.channels.wait(request, time.monotonic() + seconds, lambda kind, _: heard.append(kind))
    return reply, heard


def test_a_reply_comes_after_what_was_published(peer: Peer) -> None:
    request = peer.channels.send("shell", "execute_request", {"code": "1"})
    peer.says("iopub", "stream", "another", {"text": "not ours"})
    peer.says("iopub", "stream", request, {"text": "ours"})
    peer.says("shell", "execute_reply", "another", {"status": "error"})
    peer.says("shell", "execute_reply", request, {"status": "ok"})
    reply, heard = _wait(peer, request)
    assert (reply, heard) == ({"status": "ok"}, ["stream"])
    peer.says("iopub", "stream", request, {"text": "late"})
    peer.says("iopub", "status", request, {"execution_state": "idle"})
    peer.says("iopub", "stream", request, {"text": "after the end"})
    late: list[dict[str, Any]] = []
    peer.channels.drain(request, lambda _, content: late.append(content))
    assert late == [{"text": "late"}]


def test_a_kernel_that_dies_in_the_middle_of_a_message_is_gone_and_its_words_are_heard(peer: Peer) -> None:
    peer.says("iopub", "stream", "request", {"text": "last words"})
    peer.ends["iopub"].sendall(b"\x01\x04part" * 500)
    for end in peer.ends.values():
        end.close()
    reply, heard = _wait(peer, "request")
    assert (reply, heard) == (None, ["stream"])
    assert peer.channels.hung_up() and peer.channels.held() == 0


def test_a_kernel_that_ended_without_closing_is_noticed(peer: Peer) -> None:
    """Its sockets may have been inherited by a process of its own that lives on."""
    peer.alive = False
    assert _wait(peer, "request") == (None, [])


@pytest.mark.parametrize(
    "name, data",
    [
        ("iopub", b"\x01\x00" * 2000),
        ("iopub", b"\x03" + b"\xff" * 8),
        ("control", b"\x05\x01x"),
        ("iopub", b"\x04\x02\x01x"),
    ],
)
def test_a_channel_that_breaks_costs_the_others_nothing(peer: Peer, name: str, data: bytes) -> None:
    peer.ends[name].sendall(data)
    peer.says("shell", "execute_reply", "request", {"status": "ok"})
    assert _wait(peer, "request")[0] == {"status": "ok"}
    assert not peer.channels.hung_up()
    peer.ends["shell"].sendall(data)
    assert _wait(peer, "another") == (None, [])
    assert peer.channels.hung_up()


def test_a_kernel_that_takes_nothing_waits_for_the_deadline(peer: Peer) -> None:
    for _ in range(40):
        peer.channels.send("shell", "execute_request", {"code": "x" * (1 << 20)})
    assert peer.channels.held() < 20 << 20
    assert _wait(peer, "request", 0.3) == (None, [])


def test_what_a_kernel_says_of_an_error_can_be_written() -> None:
    assert _text("half a \ud83d sign", 200) == "half a ? sign"
    assert _text("long", 2) == "lo" and _text(None, 2) == "" and _text(["x"], 9) == "['x']"


def test_what_is_too_large_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As JSON, 60 MiB of `{}` would take gigabytes of the judge's memory."""
    sizes: list[int] = []
    loads = json.loads
    monkeypatch.setattr(channels.json, "loads", lambda text: sizes.append(len(text)) or loads(text))
    head = [b"<IDS|MSG>", b"", b'{"msg_type": "display_data"}', b'{"msg_id": "r"}', b"{}"]
    assert _parsed([*head, b'{"data": {}}']) == ("r", "display_data", {"data": {}})
    parent, kind, content = _parsed([*head, b"[" + b"{}," * (PARSED // 3) + b"{}]"])
    assert (parent, kind) == ("r", "stream") and "8 MiB was left out" in content["text"]
    far = Message((*head, b""), (*map(len, head), 60 << 20))
    assert "60 MiB was left out" in _parse(far)[2]["text"]
    assert _parsed([*head[:3], b'{"msg_id": "r", "x": "' + b"x" * PARSED + b'"}', b"{}", b"{}"]) == (
        "",
        "",
        {},
    )
    assert max(sizes) < 100


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [b"<IDS|MSG>"],
        [b""] * 9,
        [b"<IDS|MSG>", b"", b"[]", b"{}", b"{}", b"{}"],
        [b"<IDS|MSG>", *[b"["] * 5],
    ],
)
def test_what_is_no_message_of_jupyter_is_skipped(frames: list[bytes]) -> None:
    assert _parsed(frames) == ("", "", {})


def _parsed(frames: list[bytes]) -> tuple[str, str, dict[str, Any]]:
    return _parse(Message(tuple(frames), tuple(map(len, frames))))


# -- a real kernel ----------------------------------------------------------------------

HOSTILE = """
import os, socket, stat
mine = [fd for fd in range(3, 256) if fd != int(os.environ["SHARDLAB_JUDGE_FD"])]
def unix(fd):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            found = socket.socket(fileno=os.dup(fd))
            return found if found.family == socket.AF_UNIX and found.getpeername() is not None else None
    except OSError:
        return None
found = [s for s in map(unix, mine) if s]
print(len(found))
data = DATA * (65536 // len(DATA) + 1)
for s in found: s.setblocking(False)
while True:
    for s in found:
        try: s.send(data)
        except OSError: pass
"""


@pytest.fixture(scope="module")
def kernel() -> Iterator[BoxedKernel]:
    with BoxedKernel(None, memory_mib=1024, sandboxed=True) as made:
        yield made


def _run(kernel: BoxedKernel, code: str, seconds: float = SECONDS) -> tuple[str, str]:
    heard: list[str] = []

    def hear(kind: str, content: dict[str, Any]) -> None:
        assert kernel._channels.held() <= HELD
        if kind == "stream":
            heard.append(content["text"])

    ended = kernel.run(code, seconds=seconds, hear=hear)
    return ended.how, "".join(heard)


def test_a_cell_runs_and_is_heard(kernel: BoxedKernel) -> None:
    assert _run(kernel, "print('one'); import os; os.system('echo two')") in (
        ("ok", "one\ntwo\n"),
        ("ok", "two\none\n"),
    )
    assert _run(kernel, "1 / 0")[0] == "error"
    assert _run(kernel, "import time\nwhile True: time.sleep(0.1)", 1.0)[0] == "timeout"
    assert _run(kernel, "print('three')") == ("ok", "three\n")


def test_a_flood_of_lines_is_read_or_lost_and_never_held(kernel: BoxedKernel) -> None:
    before = psutil.Process().memory_info().rss
    how, heard = _run(kernel, "for n in range(300_000): print('line', n)")
    assert how == "ok" and heard.startswith("line 0\nline 1\n")
    assert _run(kernel, "print('after')") == ("ok", "after\n")
    assert psutil.Process().memory_info().rss - before < 64 << 20


@pytest.mark.parametrize(
    "data", [b"\x01\xff" + bytes(255), b"\x04\x07\x04PING\x00\x01", b"\x03" + b"\xff" * 8]
)
def test_a_kernel_that_writes_on_its_own_sockets_does_not_grow_the_judge(data: bytes) -> None:
    with BoxedKernel(None, memory_mib=1024, sandboxed=True) as kernel:
        before = psutil.Process().memory_info().rss
        assert _run(kernel, HOSTILE.replace("DATA", repr(data)), 4.0)[0] in ("dead", "timeout")
        assert psutil.Process().memory_info().rss - before < 64 << 20
