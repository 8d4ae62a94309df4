"""How many elements a rank stores of an array that the number of ranks does not divide."""

from __future__ import annotations

from fractions import Fraction

from autograder.judge.budget.exact import ceil


def flat_shard(numel: int, ranks: int) -> tuple[int, int]:
    """(elements a rank, padding in all) of one flat parameter: FSDP1 pads it until N divides it."""
    each = ceil(Fraction(numel, ranks))
    return each, each * ranks - numel


def chunk_rows(rows: int, ranks: int) -> list[int]:
    """Rows of dimension 0 on each rank: FSDP2 cuts a parameter as `torch.chunk` does, so late ranks may be empty."""
    each = ceil(Fraction(rows, ranks))
    return [max(0, min(each, rows - rank * each)) for rank in range(ranks)]
