"""Instant answers: what a learner's own notebook says at once, with no answer readable in any file.

A record of an exercise holds, for every known answer, right or wrong, a slow salted hash (scrypt) of the *rounded*
answer. Half of the hash is the entry's tag; the other half is the key that seals what there is to say: the exact
interval, right or which misconception, refutation, explanation. Whoever computes nearly that answer can open the
entry; nobody else can tell even which entries are right. So nothing can be read; guessing is not prevented.

Rounding: a number falls in a bucket of its logarithm, four tolerances wide. Every bucket that the accepted interval
touches has an entry, both neighbours at an edge, and the sealed interval decides by the judge's own comparison
(`values.same`). So an instant "right" is the judge's "right", and there is nothing in between to be unsure of.
A list is rounded by its shape and one weighted sum of its numbers' sizes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from autograder.learner import units
from autograder.learner.values import NotReadable, Value, allowed, plain, to_base, what

COST = 15
"""log2 of scrypt's N: 2**15 takes about 0.07 s and 32 MiB."""
_PAD = 256
_BLOCKS = 8  # scrypt's r


@dataclass(frozen=True)
class Sketch:
    """A rounded answer: `shape` (kind, signs, texts, lengths) and `size`, a weighted sum of the numbers' sizes."""

    shape: str
    size: Fraction


def sketch(value: Value, leaf: str, asked: units.Asked) -> Sketch:
    """The sketch of an answer. `leaf` is the kind of each element: number, text or bool. Raises NotReadable for
    an answer of another kind.
    """
    shape, numbers = _shape(value, leaf, asked)
    return Sketch(shape, sum((i * abs(x) for i, x in enumerate(numbers, 1)), Fraction(0)))


def buckets(right: Value, leaf: str, asked: units.Asked, rel: float) -> list[str]:
    """The rounded forms of everything accepted as `right`, both neighbours at an edge included."""
    shape, numbers = _shape(right, leaf, asked)
    bounds = [sorted(map(abs, allowed(x, rel, asked))) for x in numbers]
    low = sum((i * b[0] for i, b in enumerate(bounds, 1)), Fraction(0))
    high = sum((i * b[1] for i, b in enumerate(bounds, 1)), Fraction(0))
    if not high:
        return [f"{shape} 0"]
    # the logarithm is off by far less than a millionth of a bucket
    first = math.floor(_log(low) / _width(rel) - 1e-6)
    last = math.floor(_log(high) / _width(rel) + 1e-6)
    return [f"{shape} {n}" for n in range(first, last + 1)]


def bucket(value: Value, leaf: str, asked: units.Asked, rel: float) -> str:
    """The rounded form of a given answer. Raises NotReadable."""
    seen = sketch(value, leaf, asked)
    return f"{seen.shape} {math.floor(_log(seen.size) / _width(rel)) if seen.size else 0}"


def _width(rel: float) -> float:
    return 4 * rel if rel else 1e-3


def _log(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def _shape(value: Value, leaf: str, asked: units.Asked) -> tuple[str, list[Fraction]]:
    if value.kind == "list":
        parts = [_shape(item, leaf, asked) for item in value.data]
        return "[" + ",".join(shape for shape, _ in parts) + "]", [x for _, numbers in parts for x in numbers]
    if leaf == "number":
        number = to_base(value, asked)
        return ("0" if not number else "+" if number > 0 else "-"), [number]
    if value.kind != leaf:
        raise NotReadable(f"{what(value)}; this asks for {'a text' if leaf == 'text' else 'True or False'}")
    return json.dumps(plain(value.data) if leaf == "text" else value.data), []


# --- sealing ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Lock:
    """How the entries of one part are hashed: `salt`, `cost` (log2 of scrypt's N), `where` ("2.1/dp")."""

    salt: bytes
    cost: int
    where: str

    def key(self, slot: str, rounded: str) -> tuple[str, bytes]:
        """The tag of an entry (text) and its key (32 bytes)."""
        whole = "\0".join((self.where, slot, rounded)).encode()
        made = hashlib.scrypt(
            whole, salt=self.salt, n=1 << self.cost, r=_BLOCKS, p=1, maxmem=1 << (self.cost + 12), dklen=48
        )
        return made[:16].hex(), made[16:]


def seal_all(lock: Lock, entries: Mapping[tuple[str, str], Any]) -> dict[str, str]:
    """tag -> sealed payload for every (slot, rounded) -> payload. All payloads of a part get one length, and
    entries are ordered by tag, so that neither says which is right.
    """
    texts = {where: json.dumps(payload).encode() for where, payload in entries.items()}
    length = -(-max(map(len, texts.values()), default=0) // _PAD) * _PAD
    table: dict[str, str] = {}
    for (slot, rounded), text in texts.items():
        tag, key = lock.key(slot, rounded)
        table[tag] = base64.b64encode(_mask(text.ljust(length), key)).decode()
    return dict(sorted(table.items()))


def unseal(lock: Lock, table: Mapping[str, str], slot: str, rounded: str) -> Any:
    """The payload sealed under this rounded answer, or None when nothing is known of it."""
    tag, key = lock.key(slot, rounded)
    sealed = table.get(tag)
    return None if sealed is None else json.loads(_mask(base64.b64decode(sealed), key))


def _mask(data: bytes, key: bytes) -> bytes:
    stream = hashlib.shake_256(key).digest(len(data))
    return bytes(a ^ b for a, b in zip(data, stream, strict=True))
