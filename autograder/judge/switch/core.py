"""The switch: carries out, outside the ranks, every call they make, and records it.

One thread, non-blocking sockets. `Switch.run` returns when every rank has ended, when ranks part ways, when nobody can
go on, or at the deadline; nothing a rank sends makes it raise.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograder.judge.switch import messages, picture
from autograder.judge.switch.dtypes import Bytes
from autograder.judge.switch.fault import Fault
from autograder.judge.switch.matching import Answer, Matcher, Parted
from autograder.judge.switch.messages import End, Pending
from autograder.judge.switch.outcome import Outcome, Rules, record
from autograder.judge.switch.state import RankState
from autograder.judge.switch.trace import Mark, Trace
from autograder.judge.switch.wire import Port

NOTHING: Bytes = np.empty(0, np.uint8)
MAX_HELD = 256 << 20
MAX_QUEUED = 1024 << 20  # bytes of answers that wait to be taken, of all ranks together
MAX_OPEN = 4096
MAX_MARKS = 20_000  # of one rank
GRACE_ALONE = 0.3
GRACE_THREADS = 3.0
POKE_DELAY = 0.02


class Switch:
    """The network of one case's ranks."""

    def __init__(
        self, socks: Sequence[socket.socket], greetings: Sequence[tuple[dict[str, Any], Bytes]], rules: Rules
    ) -> None:
        """`socks[r]` leads to rank r and is closed at the end; `greetings[r]` is the first frame it is sent."""
        self._rules = rules
        self._ranks = [RankState(n, Port(sock, rules.max_payload)) for n, sock in enumerate(socks)]
        self._selector = selectors.DefaultSelector()
        self._matcher = Matcher(scramble=rules.scramble)
        self._log: list[Pending] = []
        self._marks: list[Mark] = []
        self._clock = 0
        self._pokes: list[tuple[float, RankState, int]] = []
        self._derived: set[int] = set()
        self._parted: str | None = None
        for rank, (header, payload) in zip(self._ranks, greetings, strict=True):
            rank.port.send(header, [payload])
            self._selector.register(rank.port.sock, selectors.EVENT_READ, rank)
            self._listen(rank)  # inputs larger than the socket's buffer are still on their way

    def watch(self, fileobj: Any, read: Callable[[], bool]) -> None:
        """Calls `read` when `fileobj` is readable, until it returns False. For what the ranks print and the like."""
        self._selector.register(fileobj, selectors.EVENT_READ, read)

    def run(self, seconds: float) -> Outcome:
        """Serves the ranks until the case ends, at most so many seconds; closes their sockets."""
        start = time.monotonic()
        deadline = start + seconds
        how, text = "ended", ""
        try:
            while self._parted is None and any(rank.end is None for rank in self._ranks):
                now = time.monotonic()
                if now >= deadline:
                    how, text = "deadline", f"not done after {seconds:g} s"
                    break
                stuck = self._stuck()
                limit = deadline - now if stuck is None else min(stuck, deadline - now)
                events = self._selector.select(self._until_poke(limit, now))
                for key, mask in events:
                    self._serve(key, mask)
                self._poke(time.monotonic())
                if (
                    not events
                    and stuck is not None
                    and time.monotonic() - now >= stuck
                    and self._stuck() is not None
                ):
                    how, text = "stuck", "nobody can go on"
                    break
            if self._parted is not None:
                how, text = "parted", self._parted
            drawn = self._draw() if how in ("stuck", "deadline") else ""
        finally:
            for rank in self._ranks:
                rank.port.close()
            self._selector.close()
        ends = tuple(rank.end or End("stopped") for rank in self._ranks)
        trace = Trace(tuple(record(call) for call in self._log), tuple(self._marks))
        return Outcome(how, text, drawn, ends, frozenset(self._derived), trace, time.monotonic() - start)

    # --- one event ---

    def _serve(self, key: selectors.SelectorKey, mask: int) -> None:
        if not isinstance(key.data, RankState):
            if not key.data():
                self._selector.unregister(key.fileobj)
            return
        rank = key.data
        if mask & selectors.EVENT_WRITE:
            rank.port.flush()
            self._listen(rank)
        if not mask & selectors.EVENT_READ or rank.port.closed:
            return
        try:
            for header, payload in rank.port.frames():
                self._take(rank, header, payload)
                if rank.port.closed or self._parted is not None:
                    return
        except Fault as fault:
            self._end(rank, End("fault", str(fault)))
            return
        if rank.port.closed:
            self._end(rank, End("crashed"))

    def _take(self, rank: RankState, header: Any, payload: Bytes) -> None:
        if not isinstance(header, dict):
            raise Fault("a message that is no object: these are no bytes of our process group")
        op = header.get("op")
        if op == "call":
            self._call(rank, messages.call(header, payload, rank.number, rank.groups))
        elif op in ("wait", "look", "poke"):
            self._asked(rank, messages.seq(header), str(op), header.get("alone") is not False)
        elif op == "mark":
            rank.marks += 1
            if rank.marks > MAX_MARKS:
                raise Fault(f"sends more than {MAX_MARKS} marks")
            name, values = messages.mark(header)
            self._marks.append(Mark(rank.number, self._tick(), name, values))
        elif op == "group":
            number, group = messages.group(header, rank.number, len(self._ranks))
            if number != len(rank.groups):
                raise Fault("numbers its groups out of order")
            rank.groups[number] = group
        elif op == "end":
            self._end(rank, messages.end(header, payload))
        else:
            raise Fault("a message this switch does not know")

    def _call(self, rank: RankState, call: Pending) -> None:
        rank.calls += 1
        if call.seq != rank.calls:
            raise Fault("numbers its calls out of order")
        call.order = self._tick()
        self._log.append(call)
        rank.last = str(call)
        if self._rules.offered is not None and call.kind not in self._rules.offered:
            call.offered = False
            self._refuse(rank, call, f"this lab's switch offers no {call.kind}")
            return
        rank.open[call.seq] = call
        rank.bytes += call.sent
        if rank.bytes > MAX_HELD or len(rank.open) > MAX_OPEN:
            raise Fault(
                f"has {len(rank.open)} calls and {rank.bytes >> 20} MiB on their way that nobody has answered"
            )
        try:
            done = self._matcher.post(call)
        except Parted as parted:
            self._parted = str(parted)
            return
        for answer in done:
            self._answer(self._ranks[answer[0].rank], answer)
        if not done:
            self._release(rank, call)

    def _asked(self, rank: RankState, seq: int, op: str, alone: bool) -> None:
        if seq > rank.calls:
            raise Fault("waits for a call it has not made")
        held = rank.held.get(seq)
        call = rank.open.get(seq) or (held[0] if held else None)
        if call is None:
            return  # answered in the meantime
        if op == "poke":
            call.poked = True
            if held is not None:
                self._release_later(rank, seq)
            return
        if call.waited is None:
            call.waited = self._tick()
        if op == "wait":
            rank.alone = alone
            rank.waits[seq] = call
        if held is not None:
            self._deliver(rank, _taken(rank, seq))

    # --- answers ---

    def _answer(self, rank: RankState, answer: Answer) -> None:
        call, pieces, _ = answer
        rank.open.pop(call.seq)
        rank.bytes -= call.sent
        call.payload = NOTHING  # a view of it, in the log, would keep all of it
        if rank.end is not None:
            return
        if self._rules.hold and call.waited is None:
            rank.held[call.seq] = answer
            rank.bytes += _size(pieces)
            if rank.bytes > MAX_HELD:
                self._end(rank, End("fault", f"has {rank.bytes >> 20} MiB of answers it never waits for"))
            elif call.poked:
                self._release_later(rank, call.seq)
        else:
            self._deliver(rank, answer)

    def _deliver(self, rank: RankState, answer: Answer) -> None:
        call, pieces, source = answer
        call.done = self._tick()
        call.received = _size(pieces)
        rank.waits.pop(call.seq, None)
        self._send(rank, {"op": "done", "seq": call.seq, "source": source}, pieces)

    def _refuse(self, rank: RankState, call: Pending, text: str) -> None:
        call.payload = NOTHING
        if rank.open.pop(call.seq, None) is not None:
            rank.bytes -= call.sent
        rank.waits.pop(call.seq, None)
        self._send(rank, {"op": "error", "seq": call.seq, "text": text})

    def _send(self, rank: RankState, header: dict[str, Any], pieces: Sequence[Bytes] = ()) -> None:
        rank.port.send(header, pieces)
        waiting = [other.port.queued for other in self._ranks]
        if sum(waiting) > MAX_QUEUED:
            # Whoever has most waiting is the one that does not read; what its peers wait for is on its way.
            worst = self._ranks[waiting.index(max(waiting))]
            text = f"does not take its answers: {max(waiting) >> 20} MiB wait for it"
            self._end(worst, End("fault", text))
        self._listen(rank)

    def _listen(self, rank: RankState) -> None:
        if not rank.port.closed:
            mask = selectors.EVENT_READ | (selectors.EVENT_WRITE if rank.port.sending else 0)
            self._selector.modify(rank.port.sock, mask, rank)

    # --- ends ---

    def _end(self, rank: RankState, end: End) -> None:
        if rank.end is not None:
            return
        rank.end = end
        self._selector.unregister(rank.port.sock)
        rank.port.close()
        rank.waits.clear()
        rank.held.clear()
        for other in self._ranks:
            if other.end is None:
                for call in list(other.open.values()):
                    self._release(other, call)

    def _release(self, rank: RankState, call: Pending) -> None:
        """Fails a call that needs a rank which has died: its peers must not wait for it. (One that has finished is
        no reason: then the ranks have called different numbers of things, and standing still shows it.)"""
        gone = frozenset(other.number for other in self._ranks if other.end is not None)
        dead = [
            n for n in self._matcher.needs(call, gone).needs if (e := self._ranks[n].end) and e.how != "done"
        ]
        if dead:
            self._derived.add(rank.number)
            self._matcher.drop(call)
            self._refuse(rank, call, f"rank {dead[0]} has ended, and {call} needs it")

    # --- standing still ---

    def _stuck(self) -> float | None:
        """None while somebody can go on; else after how many seconds without a word to believe that nobody can."""
        live = [rank for rank in self._ranks if rank.end is None]
        if not live or any(not rank.waits or rank.port.sending for rank in live):
            return None
        return GRACE_ALONE if all(rank.alone for rank in live) else GRACE_THREADS

    def _draw(self) -> str:
        gone = frozenset(rank.number for rank in self._ranks if rank.end is not None)
        waits = {
            rank.number: [self._matcher.needs(call, gone) for _, call in sorted(rank.waits.items())]
            for rank in self._ranks
        }
        ends = {rank.number: rank.end for rank in self._ranks if rank.end is not None}
        last = {rank.number: rank.last for rank in self._ranks if rank.last}
        return picture.draw(len(self._ranks), waits, ends, last)

    # --- time ---

    def _tick(self) -> int:
        self._clock += 1
        return self._clock

    def _release_later(self, rank: RankState, seq: int) -> None:
        self._pokes.append((time.monotonic() + POKE_DELAY, rank, seq))

    def _until_poke(self, limit: float, now: float) -> float:
        return max(0.0, min([limit, *(when - now for when, _, _ in self._pokes)]))

    def _poke(self, now: float) -> None:
        due = [entry for entry in self._pokes if entry[0] <= now]
        self._pokes = [entry for entry in self._pokes if entry[0] > now]
        for _, rank, seq in due:
            if seq in rank.held and rank.end is None:
                self._deliver(rank, _taken(rank, seq))


def _taken(rank: RankState, seq: int) -> Answer:
    """Takes out an answer that was held back."""
    answer = rank.held.pop(seq)
    rank.bytes -= _size(answer[1])
    return answer


def _size(pieces: Sequence[Bytes]) -> int:
    return sum(piece.nbytes for piece in pieces)
