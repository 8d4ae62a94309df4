"""Bytes no process group of ours would send: the switch names the rank, never raises, never waits for ever."""

from __future__ import annotations

import json
import socket
import threading
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.judge.lab import HEADER_MOST, Finding, unpack
from autograder.judge.switch import End, Outcome, Rules, Switch, core
from autograder.learner.lab.frames import HEAD

EMPTY = np.empty(0, np.uint8)
GROUP = {"op": "group", "g": 0, "name": "0", "ranks": [0, 1]}
REDUCE = {
    "op": "call",
    "seq": 1,
    "g": 0,
    "kind": "all_reduce",
    "dtype": "float32",
    "sizes": [8],
    "red": "SUM",
}


def frame(header: Any, payload: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return HEAD.pack(len(text), len(payload)) + text + payload


def serve(
    *said: bytes,
    seconds: float = 5.0,
    close: bool = True,
    rules: Rules = Rules(max_payload=1 << 20),  # noqa: B008
) -> Outcome:
    """The outcome of a case in which rank r sends `said[r]` and (with `close`) hangs up."""
    pairs = [socket.socketpair() for _ in said]
    switch = Switch([a for a, _ in pairs], [({"op": "start"}, EMPTY)] * len(said), rules)

    def speak(end: socket.socket, data: bytes) -> None:
        try:
            end.sendall(data)
            if close:
                end.shutdown(socket.SHUT_WR)
            while end.recv(1 << 16):
                pass
        except OSError:
            pass  # the switch has hung up on us: what it says is in the outcome

    threads = [
        threading.Thread(target=speak, args=(b, data)) for (_, b), data in zip(pairs, said, strict=True)
    ]
    for thread in threads:
        thread.start()
    try:
        return switch.run(seconds)
    finally:
        for thread in threads:
            thread.join()
        for _, b in pairs:
            b.close()


def good(rank: int, value: float) -> bytes:
    payload = np.full(2, value, np.float32).tobytes()
    return (
        frame(GROUP)
        + frame(REDUCE, payload)
        + frame({"op": "end", "how": "done", "values": {"rank": {"json": rank}}})
    )


def test_the_frames_of_this_file_are_good_ones() -> None:
    outcome = serve(good(0, 1.0), good(1, 2.0))
    assert [end.how for end in outcome.ends] == ["done", "done"]
    assert [call.bytes for call in outcome.trace] == [8, 8]


CALL_FAULTS: list[dict[str, Any]] = [
    {"kind": "all_reduce_everything"},
    {"kind": ["all_reduce"]},
    {"kind": "__class__"},
    {"seq": 2},
    {"seq": 0},
    {"seq": -1},
    {"seq": True},
    {"seq": 10**30},
    {"g": 1},
    {"g": "0"},
    {"dtype": "float33"},
    {"dtype": None},
    {"dtype": {}},
    {"sizes": [7]},
    {"sizes": [-8]},
    {"sizes": [8.0]},
    {"sizes": "8"},
    {"sizes": [8] * 5000},
    {"sizes": [4]},
    {"sizes": [1 << 50]},
    {"red": "MEAN"},
    {"red": None},
    {"red": "BXOR"},
    {"red": "PREMUL_SUM", "factor": "2"},
    {"red": "PREMUL_SUM", "factor": True},
    {"kind": "broadcast", "root": 2},
    {"kind": "broadcast", "root": -1},
    {"kind": "broadcast"},
    {"kind": "send", "peer": 2, "tag": 0},
    {"kind": "send", "peer": None, "tag": 0},
    {"kind": "send", "peer": 1, "tag": 1 << 40},
    {"kind": "recv", "peer": 1, "tag": 0},
    {"kind": "all_to_all", "splits": [4, 4]},
    {"kind": "all_to_all", "splits": [4, 8], "takes": [4, 4]},
    {"kind": "all_to_all", "splits": [8], "takes": [8]},
    {"kind": "reduce_scatter", "splits": [8, 8]},
    {"kind": "gather", "root": 0},
    {"kind": "scatter", "root": 0},
    {"kind": "all_gather", "takes": [8, 8, 8]},
    {"kind": "barrier"},
]


@pytest.mark.parametrize("change", CALL_FAULTS, ids=lambda c: " ".join(f"{k}={v}" for k, v in c.items())[:40])
def test_a_call_with_one_wrong_field(change: dict[str, Any]) -> None:
    outcome = serve(frame(GROUP) + frame({**REDUCE, **change}, bytes(8)), good(1, 2.0))
    assert outcome.how == "ended"
    assert outcome.ends[0].how == "fault" and outcome.ends[0].text
    # the other rank is not left waiting, and is not blamed
    assert outcome.ends[1].how in ("done", "crashed")


@pytest.mark.parametrize(
    "data",
    [
        b"passed\n" * 100,
        HEAD.pack(1 << 31, 0),
        HEAD.pack(10, 1 << 60),
        HEAD.pack(0, 0),
        frame(b"{"),
        frame(b"\xff\xfe"),
        frame(b"[" * 60000),
        frame(b'{"op": NaN}'),
        frame(b"1" * 60000),
        frame([1, 2]),
        frame({"op": "call"}),
        frame({"op": ["end"]}),
        frame({"op": "end", "how": "passed"}),
        frame({"op": "end", "how": "done", "values": []}),
        frame({"op": "end", "how": "raised", "text": 5, "line": 1}),
        frame({"op": "wait", "seq": 1}),
        frame({"op": "look"}),
        frame({"op": "group", "g": 0, "name": "0", "ranks": [1]}),
        frame({"op": "group", "g": 0, "name": "0", "ranks": [0, 0]}),
        frame({"op": "group", "g": 0, "name": "0", "ranks": [0, 99]}),
        frame({"op": "group", "g": 5, "name": "0", "ranks": [0, 1]}),
        frame({"op": "group", "g": 0, "name": "x" * 5000, "ranks": []}),
        frame(GROUP) * 2,
    ],
    ids=lambda data: repr(data[:40]),
)
def test_bytes_that_are_no_message(data: bytes) -> None:
    outcome = serve(data, good(1, 2.0))
    assert outcome.how == "ended"
    assert outcome.ends[0].how == "fault" and outcome.ends[0].text


def test_half_a_frame_and_then_silence_is_a_death_or_the_deadline() -> None:
    half = frame(REDUCE, bytes(8))[:-3]
    assert serve(frame(GROUP) + half, good(1, 2.0)).ends[0].how == "crashed"


def test_after_its_last_word_nothing_of_a_rank_counts() -> None:
    end = frame({"op": "end", "how": "done", "values": {}})
    outcome = serve(end + frame(GROUP) + frame(REDUCE, bytes(8)) + b"garbage", end)
    assert [e.how for e in outcome.ends] == ["done", "done"] and len(outcome.trace) == 0


def test_text_of_a_rank_cannot_carry_control_characters() -> None:
    text = "a\x1b[2Jb\x00\ud800c\nd"
    outcome = serve(frame({"op": "end", "how": "raised", "text": text, "line": 1}))
    assert outcome.ends[0].text == "a�[2Jb��c\nd"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 1 << 70) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
fields = st.sampled_from(
    [
        "op",
        "seq",
        "g",
        "kind",
        "dtype",
        "sizes",
        "red",
        "root",
        "peer",
        "tag",
        "splits",
        "takes",
        "factor",
        "name",
        "ranks",
        "how",
    ]
)
mutations = st.dictionaries(fields, json_values, max_size=4)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(
                [GROUP, REDUCE, {"op": "wait", "seq": 1}, {"op": "end", "how": "done", "values": {}}]
            ),
            mutations,
            st.binary(max_size=16),
        ),
        max_size=4,
    ),
    st.binary(max_size=30),
)
def test_any_frames_at_all(frames: list[tuple[dict[str, Any], dict[str, Any], bytes]], tail: bytes) -> None:
    data = (
        frame(GROUP) + b"".join(frame({**base, **change}, payload) for base, change, payload in frames) + tail
    )
    outcome = serve(data, good(1, 2.0))
    assert outcome.how in ("ended", "parted")
    if outcome.how == "ended":
        assert outcome.ends[0].how in ("done", "fault", "crashed")


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes_at_all(data: bytes) -> None:
    outcome = serve(data)
    assert outcome.how == "ended" and outcome.ends[0].how in ("fault", "crashed")


def test_a_rank_that_never_stops_calling_is_stopped() -> None:
    send = {"op": "call", "g": 0, "kind": "send", "dtype": "uint8", "sizes": [0], "peer": 1, "tag": 0}
    flood = frame(GROUP) + b"".join(frame({**send, "seq": n}) for n in range(1, 6000))
    outcome = serve(flood, good(1, 2.0))
    assert outcome.ends[0].how == "fault" and "on their way" in outcome.ends[0].text


def test_a_factor_of_hundreds_of_digits_is_no_number() -> None:
    premul = {**REDUCE, "red": "PREMUL_SUM", "factor": 10**400}
    assert (
        serve(frame(GROUP) + frame(premul, bytes(8)), good(1, 2.0)).ends[0].text
        == "a factor that is no finite number"
    )


def _messages(kind: str, count: int, size: int, **more: Any) -> bytes:
    call = {"op": "call", "g": 0, "kind": kind, "dtype": "uint8", "sizes": [size], **more}
    payload = bytes(0 if kind == "recv" else size)
    return b"".join(frame({**call, "seq": n + 1}, payload) for n in range(count))


DONE = frame({"op": "end", "how": "done", "values": {}})


@pytest.mark.parametrize(
    ("offered", "first", "second"),
    [
        (None, _messages("send", 4, 8, peer=1, tag=0), _messages("recv", 4, 8, peer=0, tag=0)),
        (frozenset({"send"}), _messages("all_reduce", 4, 8, red="SUM"), b""),
    ],
    ids=["answered", "refused"],
)
def test_what_was_sent_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, offered: frozenset[str] | None, first: bytes, second: bytes
) -> None:
    """The record of a case names sizes; it must not hold the bytes, or a rank fills the judge's memory."""
    kept: list[Any] = []
    monkeypatch.setattr(core, "record", lambda call: kept.append(call.payload))
    serve(
        frame(GROUP) + first + DONE,
        frame(GROUP) + second,
        seconds=0.5,
        close=False,
        rules=Rules(offered=offered),
    )
    assert len(kept) >= 4 and all(payload.nbytes == 0 and payload.base is None for payload in kept)


def test_answers_nobody_waits_for_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "MAX_HELD", 4 << 20)
    everybody = frame({**GROUP, "ranks": [0, 1, 2]})
    gives = everybody + _messages("send", 3, 1 << 20, peer=1, tag=0)
    takes = everybody + _messages("recv", 6, 1 << 20, peer=None, tag=0)
    outcome = serve(gives + DONE, takes, gives + DONE, rules=Rules(hold=True), close=False)
    assert outcome.ends[1].how == "fault" and "never waits for" in outcome.ends[1].text


def test_many_small_messages_do_not_hold_the_clock() -> None:
    """Every pair that matches is looked for among thousands that never do; still the deadline is kept."""

    def rank(number: int) -> bytes:
        odd = {"op": "call", "g": 0, "kind": "send", "dtype": "uint8", "sizes": [0], "peer": 1 - number}
        even = {**odd, "kind": ("send", "recv")[number], "tag": 0}
        calls = [{**odd, "tag": 1 + n} for n in range(3000)] + [even] * 12_000
        return frame(GROUP) + b"".join(frame({**call, "seq": n + 1}) for n, call in enumerate(calls))

    start = time.monotonic()
    outcome = serve(rank(0), rank(1), seconds=1.0, close=False)
    assert outcome.how == "deadline" and time.monotonic() - start < 4


def test_outputs_that_are_a_list_of_a_million_tensors_are_not_read() -> None:
    header = json.dumps({"t": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}}).encode()
    packed = len(header).to_bytes(8, "little") + header
    assert list(unpack(End("done", packed=packed))) == ["t"]  # type: ignore[arg-type]
    many = header + b" " * HEADER_MOST
    found = unpack(End("done", packed=len(many).to_bytes(8, "little") + many))
    assert isinstance(found, Finding) and "more tensors" in found.text


def test_answers_that_are_not_taken_are_bounded_for_all_ranks_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One rank sends and is answered; the other receives megabytes and never reads: it is named, not its peer."""
    monkeypatch.setattr(core, "MAX_QUEUED", 24 << 20)
    everybody = frame({**GROUP, "ranks": [0, 1]})
    gives = everybody + _messages("send", 40, 1 << 20, peer=1, tag=0) + DONE
    takes = everybody + _messages("recv", 40, 1 << 20, peer=0, tag=0)
    pairs = [socket.socketpair() for _ in range(2)]
    switch = Switch([a for a, _ in pairs], [({"op": "start"}, EMPTY)] * 2, Rules(max_payload=1 << 20))

    def speak(end: socket.socket, data: bytes, *, reads: bool) -> None:
        try:
            end.sendall(data)
            while reads and end.recv(1 << 16):
                pass
        except OSError:
            pass  # the switch has hung up on us: what it says is in the outcome

    threads = [
        threading.Thread(target=speak, args=(end, data), kwargs={"reads": reads})
        for (_, end), data, reads in zip(pairs, (gives, takes), (True, False), strict=True)
    ]
    for thread in threads:
        thread.start()
    outcome = switch.run(20)
    for thread in threads:
        thread.join()
    for _, end in pairs:
        end.close()
    assert [end.how for end in outcome.ends] == ["done", "fault"]
    assert "does not take its answers" in outcome.ends[1].text
