"""Sentences about traffic: each tells formula, expected and measured, and holds exactly where it should."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from autograder.judge import invariants
from autograder.judge.switch import Call, Trace


def send(rank: int, peer: int, size: int, order: int = 0, kind: str = "send") -> Call:
    return Call(
        rank=rank,
        seq=order + 1,
        kind=kind,
        group=(0, 1, 2, 3),
        bytes=size if kind == "send" else 0,
        received=0,
        dtype="float32",
        red=None,
        peer=peer,
        root=None,
        tag=0,
        sizes=(size,),
        offered=True,
        order=order,
        waited=None,
        done=None,
    )


RING = Trace(tuple(send(rank, (rank + 1) % 4, 4000, order=step) for step in range(3) for rank in range(4)))


def test_a_ring_keeps_every_sentence() -> None:
    assert invariants.sends_at_most(RING, range(4), 12000, "(N−1)/N · S") is None
    assert invariants.all_send_at_least(RING, range(4), 48000, "(N−1) · S") is None
    assert invariants.sends_often_enough(RING, range(4), 3, "N−1") is None
    for rank in range(4):
        beside = invariants.ring_neighbours(range(4), rank)
        assert invariants.talks_only_to(RING, rank, beside, "its neighbours") is None


def test_what_is_broken_is_told_with_formula_expected_and_measured() -> None:
    most = invariants.sends_at_most(RING, range(4), 9000, "(N−1)/N · S", "some-mistake")
    assert most is not None and most.mistake == "some-mistake"
    assert most.text == "rank 0 sent 12000 bytes; at most (N−1)/N · S = 9000 are needed"
    assert most.evidence["bytes"] == 12000 and most.evidence["expected"] == 9000
    least = invariants.all_send_at_least(RING, range(4), 48001, "(N−1) · S")
    assert (
        least is not None
        and least.text == "the ranks sent 48000 bytes in all; (N−1) · S = 48001 have to travel"
    )
    often = invariants.sends_often_enough(RING, range(4), 4, "N")
    assert often is not None and often.text == "rank 0 sent 3 times; at least N = 4 are needed"
    far = invariants.talks_only_to(RING, 0, {2, 3}, "its neighbours in the ring")
    assert far is not None
    assert far.text == "rank 0 sends to rank 1; its neighbours in the ring are rank 2 and rank 3"


def test_one_kibibyte_is_free_and_not_a_byte_more() -> None:
    assert invariants.sends_at_most(RING, range(4), 12000 - 1024, "") is None
    assert invariants.sends_at_most(RING, range(4), 12000 - 1025, "") is not None


@given(st.permutations(list(range(7))), st.integers(1, 7))
def test_neighbours_are_mutual_and_never_oneself(ranks: list[int], size: int) -> None:
    group = ranks[:size]
    for rank in group:
        beside = invariants.ring_neighbours(group, rank)
        assert rank not in beside and len(beside) == min(2, size - 1)
        assert all(rank in invariants.ring_neighbours(group, other) for other in beside)


@given(st.permutations(list(RING.calls)))
def test_the_digest_does_not_see_which_rank_was_first(calls: list[Call]) -> None:
    assert Trace(tuple(calls)).digest() == RING.digest()
    other = Trace((send(0, 3, 4000), *calls[1:]))
    assert other.digest() != RING.digest() or calls[0] == send(0, 3, 4000)
