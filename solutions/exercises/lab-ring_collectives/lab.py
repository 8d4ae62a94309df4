"""Ring collectives: all-gather, reduce-scatter and all-reduce from sends and receives between neighbours.

The maths, the pictures and what is graded stand in this lab's README.md. N is the number of ranks in `group`.
"""

import torch
import torch.distributed as dist


def chunk_bounds(length: int, size: int) -> list[tuple[int, int]]:
    """Where each rank's chunk of `length` elements starts and stops (given; nothing to write).

    Every chunk has ⌈length / size⌉ elements; the last ones are shorter, or empty, where that does not divide. It is the
    rule of `torch.chunk`, and how FSDP2 shards a parameter: 5 elements on 4 ranks give 2, 2, 1, 0.
    """
    step = -(-length // size)
    return [(min(rank * step, length), min((rank + 1) * step, length)) for rank in range(size)]


def exchange(give: torch.Tensor, take: torch.Tensor, group: dist.ProcessGroup) -> None:
    """One step of the ring: send `give` to the right neighbour and receive into `take` from the left one.

    Not graded by itself, but all three collectives are made of it.

    Args:
        give: any shape and dtype; not changed.
        take: the tensor the left neighbour's data is written into: its shape and dtype are those of the left
            neighbour's `give`. Filled when this returns.
        group: the ring. Its ranks need not be 0 … N−1 of the world: `dist.P2POp` addresses a peer by its global
            rank (`dist.get_global_rank`), the ring counts in group ranks (`dist.get_rank(group)`).

    Source: the contract of `torch.distributed.batch_isend_irecv`.
    """
    raise NotImplementedError()


def ring_all_gather(shard: torch.Tensor, group: dist.ProcessGroup) -> torch.Tensor:
    """Every rank's shard, joined in the order of group ranks, on every rank.

    Args:
        shard: 1-D, n elements, any dtype; the same n and dtype on every rank. Not changed.
        group: the ring of N ranks; they need not be ranks 0 … N−1 of the world.

    Returns:
        A new 1-D tensor of N·n elements, same dtype: rank 0's shard, rank 1's, … On one rank, a copy.

    Traffic a rank: (N−1)/N · S bytes, S = bytes of the result; ring neighbours only; no collective calls.
    Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations" (2009).
    """
    raise NotImplementedError()


def ring_reduce_scatter(x: torch.Tensor, group: dist.ProcessGroup) -> torch.Tensor:
    """This rank's chunk of the sum of all ranks' x.

    Args:
        x: 1-D, L elements, any dtype that adds; the same L and dtype on every rank. Not changed. L need not divide by
            N and may be smaller: group rank r owns the chunk `chunk_bounds(L, N)[r]`, which may be empty.
        group: the ring of N ranks; they need not be ranks 0 … N−1 of the world.

    Returns:
        A new 1-D tensor, same dtype: the elementwise sum (not the mean) over ranks of this rank's chunk.
        On one rank, a copy of x.

    Traffic a rank: at most (N−1) · ⌈L/N⌉ elements, which is (N−1)/N · S bytes where N divides L; ring neighbours only;
    no collective calls.
    Source: Patarasuk and Yuan (2009).
    """
    raise NotImplementedError()


def ring_all_reduce(x: torch.Tensor, group: dist.ProcessGroup) -> torch.Tensor:
    """The sum of all ranks' x, on every rank.

    Args:
        x: any shape, L elements, any dtype that adds; the same shape and dtype on every rank. Not changed. L need not
            divide by N.
        group: the ring of N ranks; they need not be ranks 0 … N−1 of the world.

    Returns:
        A new tensor of x's shape and dtype: the elementwise sum (not the mean). On one rank, a copy of x.

    Traffic a rank: at most 2 (N−1) · ⌈L/N⌉ elements, which is 2 (N−1)/N · S bytes where N divides L; ring neighbours
    only; no collective calls.
    Source: Patarasuk and Yuan (2009): a reduce-scatter followed by an all-gather.
    """
    raise NotImplementedError()
