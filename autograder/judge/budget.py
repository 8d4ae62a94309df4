"""The budget model: what sharded training holds and sends, by formula.

P = parameters, N = ranks, S = bytes of a full array. Bytes are exact: `int` or `Fraction`, never rounded before they
are shown. GB = 10^9 bytes, GiB = 2^30 bytes. Formulas and where they come from:

- bytes a parameter and the ZeRO stages: ZeRO (arXiv 1910.02054), section 3 and figure 1
- what is alive at the same time: the layout of torch's `fully_shard` with prefetching (arXiv 2304.11277, section 4)
- ring collectives: (N-1)/N of the array a rank and direction; an all-reduce is a reduce-scatter and an all-gather

Keys of exercises are computed from here, so that no figure of the course is typed twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

Exact = int | Fraction


@dataclass(frozen=True)
class Regime:
    """Bytes a parameter, by what they are for.

    `param`, `grad`, `optimizer` are kept between steps (the fp32 master of mixed precision counts with the
    optimizer, as in ZeRO's K = 12). `compute` is the width that a matmul reads and that a gather moves.
    """

    name: str
    param: int
    grad: int
    optimizer: int
    compute: int

    @property
    def total(self) -> int:
        """Bytes a parameter of the whole training state."""
        return self.param + self.grad + self.optimizer


FP32 = Regime("fp32 Adam", param=4, grad=4, optimizer=8, compute=4)
MIXED = Regime("mixed precision, ZeRO layout", param=2, grad=2, optimizer=12, compute=2)
FSDP2_MIXED = Regime("mixed precision, FSDP2 policy", param=4, grad=4, optimizer=8, compute=2)
REGIMES = (FP32, MIXED, FSDP2_MIXED)


class Method(StrEnum):
    """How data-parallel ranks split the training state."""

    DP = "dp"  # nothing is sharded
    ZERO1 = "zero-1"  # optimizer state
    ZERO2 = "zero-2"  # and gradients
    ZERO3 = "zero-3"  # and parameters: FSDP's full sharding


def stage(number: int) -> Method:
    """The method of ZeRO stage 0 (plain data parallelism), 1, 2 or 3."""
    return (Method.DP, Method.ZERO1, Method.ZERO2, Method.ZERO3)[number]


@dataclass(frozen=True)
class State:
    """Bytes of the training state on one rank, between steps."""

    params: Fraction
    grads: Fraction
    optimizer: Fraction

    @property
    def total(self) -> Fraction:
        return self.params + self.grads + self.optimizer


def kept(method: Method, ranks: int) -> tuple[Fraction, Fraction, Fraction]:
    """The fraction of parameters, gradients and optimizer state that one of `ranks` keeps (ZeRO, figure 1)."""
    whole, shard = Fraction(1), Fraction(1, ranks)
    level = list(Method).index(method)
    return (
        shard if level >= 3 else whole,
        shard if level >= 2 else whole,
        shard if level >= 1 else whole,
    )


def state(method: Method, params: int, ranks: int, regime: Regime) -> State:
    """Training state on one rank in bytes, equal shards assumed (padding aside: see `flat_shard`, `chunk_rows`)."""
    p, g, o = kept(method, ranks)
    return State(p * regime.param * params, g * regime.grad * params, o * regime.optimizer * params)


@dataclass(frozen=True)
class Transient:
    """Bytes alive on one rank beyond its shard at the fullest moment of the backward pass."""

    params: int  # the unit at work, gathered
    gradient: int  # its gradient, whole until it is reduce-scattered
    prefetched: int  # the parameters of the unit that comes next
    root: int = 0  # the root unit's own parameters, which stay gathered from forward to backward

    @property
    def total(self) -> int:
        return self.params + self.gradient + self.prefetched + self.root


def transient(units: Sequence[int], width: int, *, prefetch: bool = True, root: int = 0) -> Transient:
    """The fullest moment of backward for `units` (parameters of each, in forward order) at `width` bytes a number.

    Backward walks from the last unit to the first: while unit l computes it holds its parameters and its gradient,
    and, prefetching, the parameters of unit l-1. With equal units that is three of them, the figure PyTorch's own
    memory test allows above the shard, besides the root's own parameters.
    """
    moments = [
        Transient(u * width, u * width, (units[i - 1] if prefetch and i else 0) * width, root * width)
        for i, u in enumerate(units)
    ]
    return max(moments, key=lambda moment: moment.total)


def smallest_world(total: int, extra: Exact, memory: Exact) -> int:
    """The least N with total/N + extra <= memory, all in bytes; 0 where no N can do it."""
    room = memory - extra
    return 0 if room <= 0 else max(1, _ceil(Fraction(total) / Fraction(room)))


# --- traffic ------------------------------------------------------------------------------------------------------


def all_gather(size: Exact, ranks: int) -> Fraction:
    """Bytes a rank receives (and sends) in a ring all-gather that builds an array of `size` bytes."""
    return Fraction(ranks - 1, ranks) * size


def reduce_scatter(size: Exact, ranks: int) -> Fraction:
    """Bytes a rank receives (and sends) in a ring reduce-scatter of an array of `size` bytes: partial sums."""
    return Fraction(ranks - 1, ranks) * size


def all_reduce(size: Exact, ranks: int) -> Fraction:
    """Bytes a rank receives (and sends) in a ring all-reduce: a reduce-scatter, then an all-gather."""
    return reduce_scatter(size, ranks) + all_gather(size, ranks)


def step_traffic(method: Method, params: int, ranks: int, micro_batches: int = 1) -> Fraction:
    """Elements a rank receives in one optimizer step (not bytes: the two directions may differ in dtype).

    Plain data parallelism and ZeRO-1 wait with the reduction until the last micro-batch; ZeRO-2 reduces every
    micro-batch and gathers the updated parameters once; ZeRO-3 gathers twice and reduces once a micro-batch.
    """
    m = micro_batches
    times = {Method.DP: 2, Method.ZERO1: 2, Method.ZERO2: m + 1, Method.ZERO3: 3 * m}[method]
    return times * all_gather(params, ranks)


# --- shard sizes --------------------------------------------------------------------------------------------------


def flat_shard(numel: int, ranks: int) -> tuple[int, int]:
    """(elements a rank, padding in all) of one flat parameter: FSDP1 pads it until N divides it."""
    each = _ceil(Fraction(numel, ranks))
    return each, each * ranks - numel


def chunk_rows(rows: int, ranks: int) -> list[int]:
    """Rows of dimension 0 on each rank: FSDP2 cuts a parameter as `torch.chunk` does, so late ranks may be empty."""
    each = _ceil(Fraction(rows, ranks))
    return [max(0, min(each, rows - rank * each)) for rank in range(ranks)]


# --- models -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Llama:
    """Parameter counts of a Llama-style decoder from its published sizes (arXiv 2302.13971, 2407.21783)."""

    hidden: int
    ffn: int
    layers: int
    vocab: int
    kv_fraction: Fraction = Fraction(1)  # key and value width over hidden: 1 without grouped queries

    @property
    def block(self) -> int:
        """Query and output, key and value, the three matrices of the gated MLP, two norms."""
        h = self.hidden
        return int(2 * h * h + 2 * h * h * self.kv_fraction) + 3 * h * self.ffn + 2 * h

    @property
    def embedding(self) -> int:
        return self.vocab * self.hidden

    @property
    def root(self) -> int:
        """What is left to the root unit when each block is a unit: embedding, last norm, output head."""
        return 2 * self.embedding + self.hidden

    @property
    def params(self) -> int:
        return self.layers * self.block + self.root


LLAMA_7B = Llama(hidden=4096, ffn=11008, layers=32, vocab=32000)
LLAMA3_8B = Llama(hidden=4096, ffn=14336, layers=32, vocab=128256, kv_fraction=Fraction(1, 4))


def gpt_block(hidden: int) -> int:
    """Parameters of the matrices of a GPT block, 12 h^2: four h x h for attention, two h x 4h for the MLP."""
    return 12 * hidden * hidden


# --- texts --------------------------------------------------------------------------------------------------------

_UNITS = {"B": 1, "MB": 10**6, "GB": 10**9, "TB": 10**12, "GiB": 2**30}


def text(size: Exact, unit: str = "GB", digits: int = 8) -> str:
    """`size` bytes as a text like "31.40625 GB": exact if that takes at most `digits` significant digits."""
    return f"{number(Fraction(size) / _UNITS[unit], digits)} {unit}"


def gb(size: Exact) -> str:
    """Bytes as a text in GB (10^9 bytes): gb(112 * 10**9) is "112 GB"."""
    return text(size, "GB")


def mb(size: Exact) -> str:
    """Bytes as a text in MB (10^6 bytes)."""
    return text(size, "MB")


def mistaken_gib(size: Exact) -> str:
    """The count of GiB in `size` with the wrong unit behind it: what someone writes who divides by 2^30, says GB."""
    return f"{number(Fraction(size, _UNITS['GiB']))} GB"


def number(value: Exact, digits: int = 8) -> str:
    """A decimal text without trailing zeros or exponent, rounded half to even at `digits` significant digits."""
    value = Fraction(value)
    if value == 0:
        return "0"
    places, size = digits - 1, abs(value)
    while size >= 10:
        size, places = size / 10, places - 1
    while size < 1:
        size, places = size * 10, places + 1
    shown = round(value, places)
    if places <= 0:
        return str(int(shown))
    whole, part = divmod(abs(shown) * 10**places, 10**places)
    tail = str(int(part)).rjust(places, "0").rstrip("0")
    return f"{'-' if value < 0 else ''}{int(whole)}{'.' + tail if tail else ''}"


def _ceil(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)
