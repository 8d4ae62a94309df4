"""The judge's end of a kernel's sockets, at a peer that hangs up at the worst moment."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zmq

from autograder.sandbox import channels
from autograder.sandbox.channels import PARSED, _receive
from autograder.sandbox.kernel import _text

HANGS_UP = """
import sys, time, zmq
from autograder.sandbox.channels import PORTS, Channels

stem = sys.argv[1]
context = zmq.Context()
peers = {}
for name, kind in (("shell", zmq.ROUTER), ("control", zmq.ROUTER), ("iopub", zmq.XPUB)):
    peers[name] = context.socket(kind)
    peers[name].bind(f"ipc://{stem}-{PORTS[name]}")
channels = Channels(stem, lambda: True, "key")
peers["iopub"].recv()  # subscribed
peers["iopub"].send_multipart([b"part"] * 500)
channels._sockets["iopub"].poll(10_000)
for peer in peers.values():
    peer.close(linger=0)
time.sleep(0.3)
print(channels.take_output("request", lambda *_: None, 10_000))
channels.close()
"""


def test_a_kernel_that_dies_in_the_middle_of_a_message_does_not_end_the_grader(tmp_path: Path) -> None:
    """In a process of its own: what goes wrong here ends the process, with no exception to catch."""
    ran = subprocess.run(
        [sys.executable, "-c", HANGS_UP, str(tmp_path / "k")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == "other"


def test_what_a_kernel_says_of_an_error_can_be_written() -> None:
    assert _text("half a \ud83d sign", 200) == "half a ? sign"
    assert _text("long", 2) == "lo" and _text(None, 2) == "" and _text(["x"], 9) == "['x']"


def test_what_is_too_large_is_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """As JSON, 60 MiB of `{}` would take gigabytes of the judge's memory."""
    sizes: list[int] = []
    loads = json.loads
    monkeypatch.setattr(channels.json, "loads", lambda text: sizes.append(len(text)) or loads(text))
    head = [b"<IDS|MSG>", b"", b'{"msg_type": "display_data"}', b'{"msg_id": "r"}', b"{}"]
    assert _received([*head, b'{"data": {}}']) == ("r", "display_data", {"data": {}})
    parent, kind, content = _received([*head, b"[" + b"{}," * (PARSED // 3) + b"{}]"])
    assert (parent, kind) == ("r", "stream") and "8 MiB was left out" in content["text"]
    assert _received([*head[:3], b'{"msg_id": "r", "x": "' + b"x" * PARSED + b'"}', b"{}", b"{}"]) == (
        "",
        "",
        {},
    )
    assert max(sizes) < 100


def _received(frames: list[bytes]) -> tuple[str, str, dict[str, Any]]:
    with zmq.Context() as context, context.socket(zmq.PAIR) as ours, context.socket(zmq.PAIR) as theirs:
        ours.bind("inproc://test")
        theirs.connect("inproc://test")
        theirs.send_multipart(frames)
        return _receive(ours)
