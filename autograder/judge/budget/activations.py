"""Activation memory of a transformer block, in bytes, 16-bit activations and 1-byte dropout masks.

All from Korthikanti and others, "Reducing Activation Recomputation in Large Transformer Models" (arXiv 2205.05198),
sections 4 and 5: a block of attention with `heads` heads, an MLP of width 4h, two layer norms, with dropout.
s = sequence length, b = micro-batch, h = hidden size, a = heads, t = ranks of tensor parallelism. Data-parallel
sharding of the state leaves every one of these as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

Recompute = Literal["none", "scores", "full"]
"""What backward computes again: nothing; the attention scores (selective recomputation, or FlashAttention, which never
stores them, arXiv 2205.14135); all of the block but its input."""


@dataclass(frozen=True)
class Shape:
    """A decoder and the batch that one rank works on."""

    sequence: int
    batch: int
    hidden: int
    heads: int
    layers: int

    @property
    def sbh(self) -> int:
        """Elements of one hidden state of the batch."""
        return self.sequence * self.batch * self.hidden

    @property
    def tokens(self) -> int:
        return self.sequence * self.batch


GPT3 = Shape(sequence=2048, batch=8, hidden=12288, heads=96, layers=96)
"""GPT-3's shape (arXiv 2005.14165, table 2.1) with eight samples on a rank."""


def main_tensor(shape: Shape, width: int = 2) -> int:
    """Bytes of one hidden state, the input of a block: s b h numbers of `width` bytes."""
    return shape.sbh * width


def scores(shape: Shape, tensor: int = 1) -> Fraction:
    """Bytes a block keeps for attention scores: 5 a s^2 b / t (softmax output and input of dropout, and its mask)."""
    return Fraction(5 * shape.heads * shape.sequence * shape.sequence * shape.batch, tensor)


def block(
    shape: Shape, *, tensor: int = 1, sequence_parallel: bool = False, store_scores: bool = True
) -> Fraction:
    """Bytes one block keeps for backward: sbh(34 + 5as/h), all of it where nothing is recomputed.

    On `tensor` ranks sbh(10 + 24/t + 5as/(ht)): norms, dropouts and the inputs of the parallel regions, 10 of the 34,
    stay whole. With `sequence_parallel` those are cut along the sequence, too: sbh(34/t + 5as/(ht)). Without
    `store_scores` the term with a is gone.
    """
    whole = Fraction(34, tensor) if sequence_parallel else 10 + Fraction(24, tensor)
    return shape.sbh * whole + (scores(shape, tensor) if store_scores else 0)


def kept(
    shape: Shape, recompute: Recompute = "none", *, tensor: int = 1, sequence_parallel: bool = False
) -> Fraction:
    """Bytes that all blocks keep until backward reaches them; checkpointed, each keeps its input of 2sbh."""
    if recompute == "full":
        return Fraction(shape.layers * main_tensor(shape))
    return shape.layers * block(
        shape, tensor=tensor, sequence_parallel=sequence_parallel, store_scores=recompute == "none"
    )


def peak(
    shape: Shape,
    recompute: Recompute = "none",
    *,
    store_scores: bool = True,
    tensor: int = 1,
    sequence_parallel: bool = False,
) -> Fraction:
    """Bytes at the fullest moment: what is kept and, under full checkpointing, one block computed again.

    `store_scores`: whether that one block stores its scores meanwhile (without FlashAttention it does).
    """
    held = kept(shape, recompute, tensor=tensor, sequence_parallel=sequence_parallel)
    if recompute != "full":
        return held
    return held + block(shape, tensor=tensor, sequence_parallel=sequence_parallel, store_scores=store_scores)


def largest_batch(shape: Shape, memory: int, recompute: Recompute, *, store_scores: bool = True) -> int:
    """The largest batch on a rank whose peak is within `memory` bytes; 0 where one sample is too much."""
    one = Shape(shape.sequence, 1, shape.hidden, shape.heads, shape.layers)
    return int(memory // peak(one, recompute, store_scores=store_scores))  # every term has b as a factor
