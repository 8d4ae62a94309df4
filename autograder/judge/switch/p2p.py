"""Point to point: which send belongs to which receive.

A send is done when its receive has come (a rendezvous): no buffer in between hides an order of calls that only works
by luck. Messages between the same two ranks with the same tag match in the order they were called.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from autograder.judge.switch.dtypes import ITEMSIZE, Bytes
from autograder.judge.switch.messages import Pending

_FLIPS = {"float64": (6, 0x08), "float32": (2, 0x40), "bfloat16": (0, 0x40), "float16": (1, 0x02)}
"""Byte within an element (little-endian) and bit in it that scrambling flips: a high bit of the mantissa."""


class Mailbox:
    """Sends and receives that have not found each other yet."""

    def __init__(self) -> None:
        self._waiting: dict[int, Pending] = {}  # by id(), oldest first

    def __iter__(self) -> Iterator[Pending]:
        return iter(self._waiting.values())

    def post(self, call: Pending) -> tuple[Pending, Pending] | None:
        """Takes a send or receive in; returns (send, receive) when it has found its other half."""
        for other in self._waiting.values():
            send, recv = (call, other) if call.kind == "send" else (other, call)
            if _belong(send, recv):
                del self._waiting[id(other)]
                return send, recv
        self._waiting[id(call)] = call
        return None

    def drop(self, call: Pending) -> None:
        """Takes a call out again."""
        del self._waiting[id(call)]


def _belong(send: Pending, recv: Pending) -> bool:
    return (
        send.kind == "send"
        and recv.kind == "recv"
        and send.group == recv.group
        and send.tag == recv.tag
        and send.peer == recv.rank
        and recv.peer in (None, send.rank)
    )


def scrambled(payload: Bytes, dtype: str) -> Bytes:
    """A copy of `payload` with one bit of every element flipped: another value, and a finite one where it was finite.

    For a case that asks whether the data really comes this way: whoever gets right values from scrambled messages
    got them elsewhere.
    """
    place, bit = _FLIPS.get(dtype, (0, 0x01))
    changed = np.array(payload)
    changed[place :: ITEMSIZE[dtype]] ^= np.uint8(bit)
    return changed
