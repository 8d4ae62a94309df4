"""What happened in a case: one frozen record for every call a rank made, in the order the switch saw them, and beside
the calls what the probe in the rank's process remarked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """One call of one rank.

    `rank`, `peer`, `root` and `group` are global ranks (`peer` None: a receive from anybody). `bytes` is the payload
    this rank handed in, `received` what it got back. `order`, `waited` and `done` count the switch's events: when the
    call came, when the rank first waited for it or asked whether it is done, when it was answered; None: never. A call
    that is done before its rank asks has no `waited`, except where completions are held back.
    """

    rank: int
    seq: int
    kind: str
    group: tuple[int, ...]
    bytes: int
    received: int
    dtype: str
    red: str | None
    peer: int | None
    root: int | None
    tag: int
    sizes: tuple[int, ...]
    offered: bool
    order: int
    waited: int | None
    done: int | None


@dataclass(frozen=True, slots=True)
class Mark:
    """A remark of the probe beside a rank's code, such as that a phase begins. `order` is of the same clock as a
    call's, so that marks and calls of one rank stand in the order of its program. Values are finite numbers and short
    texts. Advisory: learner code can send marks of its own, so what rests on one may take points and never gives any.
    """

    rank: int
    order: int
    name: str
    values: Mapping[str, float | str]


@dataclass(frozen=True)
class Trace:
    """All calls of a case, and all marks, each in the order they came."""

    calls: tuple[Call, ...]
    marks: tuple[Mark, ...] = ()

    def __iter__(self) -> Iterator[Call]:
        return iter(self.calls)

    def __len__(self) -> int:
        return len(self.calls)

    def of(self, rank: int, *kinds: str) -> tuple[Call, ...]:
        """The calls of one rank, of these kinds (none given: all), in its own order."""
        return tuple(c for c in self.calls if c.rank == rank and (not kinds or c.kind in kinds))

    def marked(self, rank: int, *names: str) -> tuple[Mark, ...]:
        """The marks of one rank, with these names (none given: all), in its own order."""
        return tuple(m for m in self.marks if m.rank == rank and (not names or m.name in names))

    def digest(self, ranks: Container[int] | None = None) -> str:
        """A hash of what these ranks (None: all) called, each in its own order. Which rank was first among equals does
        not enter, nor do marks.
        """
        rows = sorted(
            (
                c.rank,
                c.seq,
                c.kind,
                c.group,
                c.bytes,
                c.dtype,
                c.red,
                -1 if c.peer is None else c.peer,
                c.root,
                c.tag,
            )
            for c in self.calls
            if ranks is None or c.rank in ranks
        )
        return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]
