"""The judge's end of the socket, against a kernel that says whatever it likes."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from answers.helpers import SEED, judge_cell, key
from autograder.judge.heard import Heard
from autograder.judge.lines import GARBAGE_LIMIT, LINE_LIMIT, TALK_LIMIT
from autograder.judge.talk import Talk
from autograder.learner.values import value_of
from autograder.verdict import PartStatus

KEY = key("""
expect.quantity("dp", "112 GB")
expect.function("f", like=lambda N: 2 * N, given={"N": draw.integers(1, 9)}, draws=2, edges=[{"N": 0}])
""")


@dataclass
class Kernel:
    """The other end: sends lines, reads messages."""

    sock: socket.socket
    buffer: bytes = b""

    def say(self, *messages: Any) -> None:
        self.raw(b"".join(json.dumps(m).encode() + b"\n" for m in messages))

    def raw(self, data: bytes) -> None:
        self.sock.sendall(data)

    def hear(self) -> Any:
        while b"\n" not in self.buffer:
            more = self.sock.recv(65536)
            assert more, "the judge hung up"
            self.buffer += more
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)


@contextlib.contextmanager
def talking(**options: Any) -> Iterator[tuple[Talk, Kernel]]:
    ours, theirs = socket.socketpair()
    theirs.settimeout(10)
    talk = Talk(ours, **options)
    try:
        yield talk, Kernel(theirs)
    finally:
        talk.close()
        theirs.close()


def submit(exercise: str = "2.1", ident: Any = "1", **answers: Any) -> dict[str, Any]:
    return {"op": "submit", "id": ident, "exercise": exercise, "answers": answers}


def value(call: dict[str, Any], wire: Any) -> dict[str, Any]:
    return {"op": "value", "id": call["id"], "call": call["call"], "value": wire}


def statuses(heard: Heard) -> list[PartStatus]:
    return [p.status for p in judge_cell(KEY, heard, seed=SEED, misconceptions={})]


def converse(script: Callable[[Kernel], None], seconds: float = 10.0, function_seconds: float = 5.0) -> Heard:
    """One conversation with a scripted kernel."""
    with talking(function_seconds=function_seconds) as (talk, kernel):
        talk.start(KEY, seed=SEED, seconds=seconds)
        script(kernel)
        started = time.monotonic()
        heard = talk.finish()
        assert time.monotonic() - started < 1.5
        return heard


def answer_all(kernel: Kernel) -> None:
    while True:
        message = kernel.hear()
        if message["op"] == "done":
            assert message["said"] == "recorded"
            return
        kernel.say(value(message, {"n": 2 * message["args"]["N"]}))


def test_a_conversation() -> None:
    def script(kernel: Kernel) -> None:
        kernel.say(submit(dp={"t": "112 GB"}, f={"f": ["N"]}))
        answer_all(kernel)

    heard = converse(script)
    assert heard.submitted
    assert (heard.ended, heard.notes) == ("done", ())
    assert heard.answers == {"dp": value_of("112 GB"), "f": value_of(lambda N: 0)}
    assert len(heard.results["f"]) == 3
    assert statuses(heard) == [PartStatus.PASSED, PartStatus.PASSED]


def test_calls_carry_what_the_judge_draws_and_never_what_it_expects() -> None:
    calls = []

    def script(kernel: Kernel) -> None:
        kernel.say(submit(f={"f": ["N"]}))
        while (message := kernel.hear())["op"] == "call":
            calls.append(message)
            kernel.say(
                {
                    "op": "raised",
                    "id": message["id"],
                    "call": message["call"],
                    "kind": "ValueError",
                    "text": "x",
                }
            )

    heard = converse(script)
    assert [c["args"] for c in calls] == list(KEY.parts[1].inputs(SEED))  # type: ignore[attr-defined]
    assert all(set(c) == {"op", "id", "call", "name", "args", "seconds"} for c in calls)
    assert [r.kind for r in heard.results["f"]] == ["ValueError"] * 3


def test_one_talk_serves_cell_after_cell_and_drops_what_came_between() -> None:
    with talking() as (talk, kernel):
        for dp, status in (("112 GB", PartStatus.PASSED), ("1 GB", PartStatus.FAILED)):
            kernel.say(submit(dp={"t": "112 GB"}))  # before the cell: never counts
            kernel.raw(b'{"half a line')
            talk.start(KEY, seed=SEED)
            kernel.say(submit(dp={"t": dp}, ident=dp))
            while (message := kernel.hear())["id"] != dp:
                pass
            assert message["op"] == "done"
            assert statuses(talk.finish())[0] is status


def test_without_a_key_every_submit_is_answered_and_forgotten() -> None:
    with talking() as (talk, kernel):
        talk.start(None)
        kernel.say(submit("9.9", 5, x={"n": 1}), submit("2.1", 6))
        assert [kernel.hear()["id"], kernel.hear()["id"]] == [5, 6]
        assert talk.finish() == Heard(ended="silent")


def test_the_first_submit_counts() -> None:
    def script(kernel: Kernel) -> None:
        kernel.say(submit(dp={"t": "1 GB"}), submit(dp={"t": "112 GB"}))
        assert kernel.hear()["said"] == "recorded"
        assert kernel.hear()["said"] == "recorded already"

    heard = converse(script)
    assert heard.answers["dp"] == value_of("1 GB")
    assert heard.notes == ("submitted again: the first counts",)


def test_a_submit_of_another_exercise_is_told_and_the_right_one_still_counts() -> None:
    def script(kernel: Kernel) -> None:
        kernel.say(submit("2.2", dp={"t": "112 GB"}))
        assert kernel.hear()["said"] == "not recorded: this cell is for exercise 2.1"
        kernel.say(submit("2.1", dp={"t": "112 GB"}))
        assert kernel.hear()["said"] == "recorded"

    heard = converse(script)
    assert statuses(heard)[0] is PartStatus.PASSED
    assert "a submit of exercise 2.2" in heard.notes[0]


def test_answers_to_calls_never_made_are_dropped() -> None:
    forged = [{"op": "value", "id": "1", "call": n, "value": {"n": 0}} for n in range(-3, 60)]

    def script(kernel: Kernel) -> None:
        kernel.say(*forged, submit(f={"f": ["N"]}))
        answer = kernel.hear()
        kernel.say(value({**answer, "id": "2"}, {"n": 0}), value({**answer, "call": 2}, {"n": 0}))
        kernel.say(submit(dp={"t": "112 GB"}), value(answer, {"n": 2 * answer["args"]["N"]}))
        answer_all(kernel)

    heard = converse(script)
    assert statuses(heard) == [PartStatus.MISSING, PartStatus.PASSED]


def test_silence_ends_with_the_cell() -> None:
    assert converse(lambda kernel: None) == Heard(ended="silent")


def test_out_of_time() -> None:
    heard = converse(lambda kernel: time.sleep(0.4), seconds=0.2)
    assert heard.ended == "late"
    assert statuses(heard) == [PartStatus.TIMEOUT] * 2


def test_hanging_up() -> None:
    def script(kernel: Kernel) -> None:
        kernel.sock.shutdown(socket.SHUT_RDWR)
        time.sleep(0.1)

    assert converse(script).ended == "closed"

    def later(kernel: Kernel) -> None:
        kernel.say(submit(dp={"t": "112 GB"}, f={"f": ["N"]}))
        kernel.hear()
        script(kernel)

    heard = converse(later)
    assert heard.ended == "closed"
    assert statuses(heard) == [PartStatus.PASSED, PartStatus.CRASHED]


def test_a_function_that_does_not_answer_costs_its_own_part_only() -> None:
    def script(kernel: Kernel) -> None:
        kernel.say(submit(dp={"t": "112 GB"}, f={"f": ["N"]}))
        assert kernel.hear()["op"] == "call"
        assert kernel.hear()["op"] == "done"

    started = time.monotonic()
    heard = converse(script, function_seconds=0.1)
    assert time.monotonic() - started < 3
    assert statuses(heard) == [PartStatus.PASSED, PartStatus.TIMEOUT]


def test_a_function_not_written_yet_is_called_once() -> None:
    def script(kernel: Kernel) -> None:
        kernel.say(submit(f={"f": ["N"]}))
        call = kernel.hear()
        kernel.say(
            {"op": "raised", "id": "1", "call": call["call"], "kind": "NotImplementedError", "text": ""}
        )
        assert kernel.hear()["op"] == "done"

    assert statuses(converse(script)) == [PartStatus.MISSING, PartStatus.MISSING]


def test_a_cell_that_is_interrupted_leaves_nothing_behind() -> None:
    with talking() as (talk, kernel):
        talk.start(KEY, seed=SEED)
        kernel.say(submit(dp={"t": "112 GB"}, f={"f": ["N"]}))
        kernel.hear()  # the call: and no answer
        heard = talk.finish()
        assert (heard.ended, heard.submitted) == ("stopped", True)
        talk.start(KEY, seed=SEED)
        kernel.say(value({"id": "1", "call": 1}, {"n": 3}), submit(ident="2", dp={"t": "112 GB"}))
        assert kernel.hear() == {"op": "done", "id": "2", "said": "recorded"}
        assert statuses(talk.finish()) == [PartStatus.PASSED, PartStatus.MISSING]


DEEP = b"[" * 60_000


def nested(field: str) -> list[bytes]:
    """Submits with one field nested about as deep as can be read, where writing it again might fail."""
    head = b'{"op": "submit", "exercise": "2.1", "answers": {}, "' + field.encode() + b'": '
    return [head + b"[" * n + b"]" * n + b"}" for n in range(100, 1100, 50)]


HUGE = b'{"op": "submit", "id": 1, "exercise": "2.1", "answers": {"dp": {"n": ' + b"9" * 50_000 + b"}}}"


@pytest.mark.parametrize(
    "line",
    [
        b"not json", b"\xff\xfe\x00", b"[]", b"3", b"null", b'"x"', b"{}", DEEP, b'{"a":' * 10_000, HUGE,
        b"x" * (LINE_LIMIT + 1), b"x" * 500_000, b'{"op": ["submit"]}', b'{"op": "submit"}', b'{"op": "value"}',
        b'{"op": "submit", "exercise": "2.1"}', b'{"op": "submit", "exercise": "2.1", "answers": []}',
        b'{"op": "submit", "exercise": {"2.1": 1}, "answers": {}}',
        json.dumps(submit(**{f"n{i}": {"n": 1} for i in range(1000)})).encode(),
        b"\n".join([*nested("id"), *nested("op"), *nested("exercise"), *nested("answers")]),
        b'{"op": "submit", "op": "value"}', b"NaN", b'{"op": NaN}', b"\x00" * 100,
    ],
    ids=range(24),
)  # fmt: skip
def test_a_line_that_is_no_answer_costs_nothing(line: bytes) -> None:
    def script(kernel: Kernel) -> None:
        kernel.raw(line + b"\n")
        kernel.say(submit(ident="good", dp={"t": "112 GB"}))
        while kernel.hear()["id"] != "good":
            pass

    assert statuses(converse(script))[0] is PartStatus.PASSED


@pytest.mark.parametrize(
    "wire",
    [{"n": float("nan")}, {"n": float("inf")}, {"n": "1e400"}, {"n": "9" * 400}, {"n": 10**4200}, {"n": True}, {},
     None, 3, {"n": 1, "t": ""}, {"l": [{"l": [{"l": [{"l": [{"l": []}]}]}]}]},
     {"x": "A" * 9999}, {"t": "\ud800"}, {"x": "\ud800"}, {"f": ["\ud800"]},
     {"t": "\x00\u202e" * 400}],
)  # fmt: skip
def test_extreme_answers_are_judged(wire: Any) -> None:
    def script(kernel: Kernel) -> None:
        kernel.say(submit(dp=wire, f={"f": ["N"]}))
        while (message := kernel.hear())["op"] == "call":
            kernel.say(value(message, wire))

    heard = converse(script)
    for part in judge_cell(KEY, heard, seed=SEED, misconceptions={}):
        assert part.status is PartStatus.FAILED
        assert len(msgspec.json.encode(part)) < 4000  # and it can be written at all


def test_a_flood_is_cut_off_and_the_kernel_is_what_waits() -> None:
    with talking() as (talk, kernel):
        talk.start(KEY, seed=SEED)
        kernel.sock.settimeout(0.5)
        sent = 0
        with pytest.raises(TimeoutError):
            while sent < 4 * TALK_LIMIT:
                sent += kernel.sock.send(b"x" * 60_000)
        assert TALK_LIMIT / 2 < sent < 2 * TALK_LIMIT
        heard = talk.finish()
        assert heard.ended == "garbled"
        assert "no longer listened to" in heard.notes[-1]
        # and the next cell is as good as ever
        talk.start(KEY, seed=SEED)
        kernel.raw(b"\n")
        kernel.say(submit(dp={"t": "112 GB"}))
        assert kernel.hear()["said"] == "recorded"
        assert statuses(talk.finish())[0] is PartStatus.PASSED


def test_many_bad_lines_end_the_conversation() -> None:
    def script(kernel: Kernel) -> None:
        kernel.raw(b"bad\n" * (GARBAGE_LIMIT + 5))
        time.sleep(0.2)

    heard = converse(script)
    assert heard.ended == "garbled"
    assert len(heard.notes) < 10


def test_a_kernel_that_does_not_read_does_not_hold_the_judge() -> None:
    many = {"f": {"f": ["N"]}}

    def script(kernel: Kernel) -> None:
        line = json.dumps(submit("x" * 60, **many)).encode() + b"\n"
        kernel.sock.settimeout(0.3)
        with contextlib.suppress(TimeoutError):
            for _ in range(50_000):  # each is answered "not recorded", and nobody reads the answers
                kernel.sock.sendall(line)

    heard = converse(script, function_seconds=0.1)
    assert heard.ended in ("late", "garbled", "silent")


def test_lines_may_come_in_any_pieces() -> None:
    def script(kernel: Kernel) -> None:
        for byte in json.dumps(submit(dp={"t": "112 GB"})).encode() + b"\n":
            kernel.raw(bytes([byte]))
        assert kernel.hear()["said"] == "recorded"

    assert statuses(converse(script))[0] is PartStatus.PASSED


def test_an_error_of_our_own_in_the_talk_is_blocked() -> None:
    made = key("""
drawn = []
def make(rng):
    drawn.append(1)
    if len(drawn) > 20: raise RuntimeError("broken draw")
    return {"N": 1}
expect.function("f", like=lambda N: N, given=draw.make(make))
expect.quantity("x", 3)
""")
    with talking() as (talk, kernel):
        talk.start(made, seed=SEED)
        kernel.say(submit(f={"f": ["N"]}, x={"n": 3}))
        time.sleep(0.2)
        heard = talk.finish()
    assert heard.ended == "broken"
    parts = judge_cell(made, heard, seed=SEED, misconceptions={})
    assert [p.status for p in parts] == [PartStatus.BLOCKED, PartStatus.PASSED]


pieces = st.one_of(
    st.binary(max_size=200),
    st.just(b"\n"),
    st.text(max_size=40).map(lambda t: json.dumps(t).encode() + b"\n"),
    st.recursive(st.none() | st.integers() | st.floats() | st.text(max_size=9), lambda x: st.lists(x) | st.dictionaries(
        st.sampled_from(["op", "id", "call", "answers", "exercise", "value", "n", "t", "l"]), x), max_leaves=9
    ).map(lambda x: json.dumps(x).encode() + b"\n"),
    st.fixed_dictionaries(
        {"op": st.sampled_from(["submit", "value", "raised", "done", "call"]), "id": st.sampled_from(["1", 1, None])},
        optional={"exercise": st.sampled_from(["2.1", "2.2", 3]), "call": st.integers(-2, 5),
                  "kind": st.text(max_size=9),
                  "answers": st.dictionaries(st.sampled_from(["dp", "f"]), st.sampled_from(
                      [{"f": ["N"]}, {"t": "112 GB"}, {"n": 1}, {"none": 1}, None, 7]), max_size=2),
                  "value": st.sampled_from([{"n": 4}, {"n": "x"}, None, {"l": []}])},
    ).map(lambda x: json.dumps(x).encode() + b"\n"),
)  # fmt: skip


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(pieces, max_size=12), st.booleans())
def test_whatever_is_said_the_judge_ends_and_judges(said: list[bytes], hang_up: bool) -> None:
    with talking(function_seconds=0.01) as (talk, kernel):
        talk.start(KEY, seed=SEED, seconds=5)
        for piece in said:
            kernel.raw(piece)
        if hang_up:
            kernel.sock.close()
        started = time.monotonic()
        heard = talk.finish()
        assert time.monotonic() - started < 1.5
    assert heard.ended != "broken", heard.notes
    for part in judge_cell(KEY, heard, seed=SEED, misconceptions={}):
        assert part.status is not PartStatus.BLOCKED
        msgspec.json.encode(part)


def test_no_thread_and_no_descriptor_is_left() -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    converse(lambda kernel: None)
    threads, before = threading.active_count(), descriptors()
    for _ in range(20):
        converse(lambda kernel: kernel.say(submit(dp={"t": "112 GB"})))
    assert (threading.active_count(), descriptors()) == (threads, before)


def test_wrong_use_is_told() -> None:
    with talking() as (talk, _):
        assert talk.finish() == Heard()
        talk.start(None)
        with pytest.raises(RuntimeError, match="call finish"):
            talk.start(None)
