"""What ranks say, read as hostile: every field checked, sizes capped, anything else a Fault of that rank."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from autograder.judge.switch import arithmetic
from autograder.judge.switch.dtypes import ITEMSIZE, Bytes
from autograder.judge.switch.fault import Fault

MAX_SIZES = 4096
MAX_BYTES = 1 << 40
MAX_NAME = 200
MAX_MARKED, MAX_WORD = 16, 40
MAX_TEXT = 4000
MAX_CALLS = 200_000
MAX_GROUPS = 256

REDUCING = frozenset({"all_reduce", "reduce", "reduce_scatter"})
ROOTED = frozenset({"broadcast", "reduce", "gather", "scatter"})
COLLECTIVES = frozenset({"all_gather", "all_to_all", "barrier"}) | REDUCING | ROOTED
KINDS = COLLECTIVES | {"send", "recv"}
ENDINGS = frozenset({"done", "missing", "raised", "limit"})


@dataclass(frozen=True, slots=True)
class Group:
    """A group as its members declare it. Two ranks are in the same one when name and ranks are the same."""

    name: str
    ranks: tuple[int, ...]

    def __str__(self) -> str:
        return "{" + ", ".join(map(str, self.ranks)) + "}"


@dataclass(slots=True, eq=False)
class Pending:
    """One call on its way. `root` and `peer` are global ranks; the other fields as in the rank end's header."""

    rank: int
    seq: int
    kind: str
    group: Group
    dtype: str
    sizes: tuple[int, ...]
    payload: Bytes
    red: str | None = None
    factor: float = 1.0
    root: int | None = None
    peer: int | None = None
    tag: int = 0
    splits: tuple[int, ...] | None = None
    takes: tuple[int, ...] | None = None
    offered: bool = True
    sent: int = 0
    received: int = 0
    order: int = 0
    waited: int | None = None
    poked: bool = False
    done: int | None = None

    @property
    def total(self) -> int:
        """Bytes of the call's own tensors."""
        return sum(self.sizes)

    def __str__(self) -> str:
        """The call as its author would say it."""
        if self.kind == "barrier":
            return "barrier()"
        what = f"{self.total} bytes of {self.dtype}"
        if len(self.sizes) > 1:
            what += f" in {len(self.sizes)} tensors"
        if self.kind == "send":
            return f"send({what}, to rank {self.peer})"
        if self.kind == "recv":
            return f"recv({what}, from {'anybody' if self.peer is None else f'rank {self.peer}'})"
        if self.red is not None:
            what += f", {self.red}"
        if self.root is not None:
            what += f", root rank {self.root}"
        return f"{self.kind}({what})"


@dataclass(frozen=True, slots=True)
class End:
    """How a rank ended: `done`, `missing`, `raised`, `limit` by its own word; `crashed`, `fault`, `stopped` by ours."""

    how: str
    text: str = ""
    line: int = 0
    values: dict[str, Any] = field(default_factory=dict)
    packed: bytes = b""


def group(message: dict[str, Any], rank: int, world: int) -> tuple[int, Group]:
    """A declared group and its number. Raises Fault."""
    ranks = _ints(message, "ranks", world, most=world - 1)
    if len(set(ranks)) != len(ranks) or rank not in ranks:
        raise Fault(f"declares a group {list(ranks)} it is not in, or with a rank twice")
    return _int(message, "g", MAX_GROUPS), Group(_text(message, "name", MAX_NAME), ranks)


def call(message: dict[str, Any], payload: Bytes, rank: int, groups: dict[int, Group]) -> Pending:
    """One call, its fields fitting each other and the payload. Raises Fault."""
    kind = message.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise Fault("calls something this switch does not know")
    here = groups.get(_int(message, "g", MAX_GROUPS))
    if here is None:
        raise Fault("calls in a group it never declared")
    dtype = message.get("dtype")
    if not isinstance(dtype, str) or dtype not in ITEMSIZE:
        raise Fault("names a dtype this switch does not know")
    made = Pending(
        rank=rank,
        seq=_int(message, "seq", MAX_CALLS),
        kind=kind,
        group=here,
        dtype=dtype,
        sizes=_ints(message, "sizes", MAX_SIZES),
        payload=payload,
        sent=payload.nbytes,
    )
    size = len(here.ranks)
    if kind in REDUCING:
        red = message.get("red")
        if not isinstance(red, str) or red not in arithmetic.REDUCTIONS:
            raise Fault("names a reduction this switch does not know")
        arithmetic.check(red, dtype)
        made.red = red
        factor = message.get("factor", 1.0)
        try:
            made.factor = float(factor) if type(factor) in (int, float) else math.nan
        except OverflowError:  # an integer of hundreds of digits
            made.factor = math.inf
        if not math.isfinite(made.factor):
            raise Fault("a factor that is no finite number")
    if kind in ROOTED:
        made.root = here.ranks[_int(message, "root", size - 1)]
    if kind in ("send", "recv"):
        peer = message.get("peer")
        made.peer = None if peer is None and kind == "recv" else here.ranks[_int(message, "peer", size - 1)]
        made.tag = _int(message, "tag", (1 << 31) - 1)
    for name in ("splits", "takes"):
        if name in message:
            values = _ints(message, name, size)
            if len(values) != size:
                raise Fault(f"{name} of {len(values)} for a group of {size}")
            setattr(made, name, values)
    _check_sizes(made, size)
    return made


def _check_sizes(made: Pending, size: int) -> None:
    itemsize = ITEMSIZE[made.dtype]
    pieces = (*made.sizes, *(made.splits or ()), *(made.takes or ()))
    if any(piece % itemsize for piece in pieces):
        raise Fault(f"sizes that are no whole numbers of {made.dtype}")
    if (
        made.kind in ("all_gather", "gather", "scatter")
        and (made.takes or made.splits)
        and len(made.sizes) != 1
    ):
        raise Fault("pieces of several tensors at once")
    if made.kind == "reduce_scatter":
        if made.splits is None and any(n % (size * itemsize) for n in made.sizes):
            raise Fault("a reduce_scatter whose input does not divide by the ranks")
        if made.splits is not None and (len(made.sizes) != 1 or sum(made.splits) != made.total):
            raise Fault("pieces that do not make the whole")
    if made.kind == "all_to_all" and (
        made.splits is None or made.takes is None or sum(made.splits) != made.total
    ):
        raise Fault("pieces that do not make the whole")
    if made.kind == "scatter" and made.rank == made.root and made.splits is None:
        raise Fault("a scatter without pieces")
    if made.kind == "gather" and made.rank == made.root and made.takes is None:
        raise Fault("a gather without pieces")
    if made.payload.nbytes != _payload(made):
        raise Fault(f"{made} came with {made.payload.nbytes} bytes")


def _payload(made: Pending) -> int:
    """Bytes this rank has to hand in."""
    if made.kind in ("barrier", "recv"):
        return 0
    if made.kind == "broadcast":
        return made.total if made.rank == made.root else 0
    if made.kind == "scatter":
        return sum(made.splits or ()) if made.rank == made.root else 0
    return made.total


def end(message: dict[str, Any], payload: Bytes) -> End:
    """A rank's last word. Raises Fault."""
    how = message.get("how")
    if not isinstance(how, str) or how not in ENDINGS:
        raise Fault("ends in a way this switch does not know")
    if how == "done":
        values = message.get("values")
        if not isinstance(values, dict):
            raise Fault("ends without values")
        return End("done", values=values, packed=payload.tobytes())
    return End(how, _text(message, "text", MAX_TEXT), _int(message, "line", 1 << 20))


def mark(message: dict[str, Any]) -> tuple[str, dict[str, float | str]]:
    """The name of a mark and what it says: finite numbers and short texts. Raises Fault."""
    values = message.get("values")
    if not isinstance(values, dict) or len(values) > MAX_MARKED:
        raise Fault(f"a mark without values, or with more than {MAX_MARKED}")
    made: dict[str, float | str] = {}
    for key, value in values.items():
        if len(key) > MAX_WORD:
            raise Fault("a mark whose values have long names")
        if (type(value) is int and abs(value) <= MAX_BYTES) or (
            type(value) is float and math.isfinite(value)
        ):
            made[key] = value
        else:
            made[key] = _text(values, key, MAX_WORD)
    return _text(message, "name", MAX_WORD), made


def seq(message: dict[str, Any]) -> int:
    """The number of the call a `wait` or `poke` is about. Raises Fault."""
    return _int(message, "seq", MAX_CALLS)


def _int(message: dict[str, Any], name: str, most: int) -> int:
    value = message.get(name)
    if type(value) is not int or not 0 <= value <= most:
        raise Fault(f"{name} is no number between 0 and {most}")
    return value


def _ints(message: dict[str, Any], name: str, longest: int, most: int = MAX_BYTES) -> tuple[int, ...]:
    values = message.get(name)
    if not isinstance(values, list) or len(values) > longest:
        raise Fault(f"{name} is no list of at most {longest} numbers")
    if any(type(value) is not int or not 0 <= value <= most for value in values):
        raise Fault(f"{name} holds something that is no number between 0 and {most}")
    return tuple(values)


def _text(message: dict[str, Any], name: str, longest: int) -> str:
    value = message.get(name)
    if not isinstance(value, str):
        raise Fault(f"{name} is no text")
    # control characters and lone surrogates would break whatever shows or writes this later
    shown = "".join(c if c.isprintable() or c == "\n" else "�" for c in value[:longest])
    return shown.encode("utf-8", "replace").decode()
