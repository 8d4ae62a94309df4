"""What a right solution keeps, as checks that read like the sentence they hold. Each returns a Finding with formula,
expected and measured, or None where the sentence holds; the lab says which mistake a broken one shows.

`ring`: sends and receives. `traffic`: what collectives cost, by step. `order`: what comes before what. `memory`: what
is alive when. The last two, and where steps begin and end, rest on the probe beside learner code, and say so; the
bounds of `traffic.in_all` do not.
"""

from autograder.judge.invariants.ring import (
    FREE_BYTES,
    all_send_at_least,
    bytes_sent,
    ring_neighbours,
    sends_at_most,
    sends_often_enough,
    talks_only_to,
)

__all__ = [
    "FREE_BYTES",
    "all_send_at_least",
    "bytes_sent",
    "ring_neighbours",
    "sends_at_most",
    "sends_often_enough",
    "talks_only_to",
]
