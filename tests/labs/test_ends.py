"""How a case ends when ranks go wrong: told apart, named, at once."""

from __future__ import annotations

import time

import pytest
from lab_ranks import Run, outputs

from autograder.judge.lab import Other, unpack
from autograder.judge.switch import Rules


def test_a_circle_of_sends_is_seen_at_once_and_drawn(run: Run) -> None:
    started = time.monotonic()
    outcome = run("send_first", 4).outcome
    assert outcome.how == "stuck"
    assert time.monotonic() - started < 10  # far from the deadline of 30
    lines = outcome.picture.splitlines()
    assert (
        lines[0] == "rank 0: waits in send(16 bytes of float32, to rank 1), which has not called recv for it"
    )
    assert lines[-1] == "circle: rank 0 → rank 1 → rank 2 → rank 3 → rank 0"


@pytest.mark.parametrize(
    ("scenario", "world", "said"),
    [
        ("different_sizes", 4, ["1st collective", "rank 2: all_reduce(32 bytes of float32, SUM)"]),
        ("different_order", 3, ["2nd collective", "rank 1: all_reduce(16 bytes of int32, SUM)"]),
        (
            "different_kinds",
            3,
            ["rank 0: broadcast(16 bytes of float32, root rank 0)", "all_reduce(16 bytes of float32, SUM)"],
        ),
        ("different_roots", 3, ["root rank 0", "root rank 1"]),
        ("message_too_long", 2, ["rank 0 sends 16 bytes", "rank 1, which receives into 12 bytes"]),
    ],
)
def test_ranks_that_part_ways_are_named(run: Run, scenario: str, world: int, said: list[str]) -> None:
    outcome = run(scenario, world).outcome
    assert outcome.how == "parted"
    for words in said:
        assert words in outcome.text


def test_a_rank_that_calls_one_time_less(run: Run) -> None:
    outcome = run("one_call_less", 3).outcome
    assert outcome.how == "stuck"
    assert outcome.picture.splitlines() == [
        "rank 0: waits in barrier() in group {0, 1, 2}, where rank 1 has not come",
        "rank 1: has finished",
        "rank 2: waits in barrier() in group {0, 1, 2}, where rank 1 has not come",
    ]


def test_an_exception_shows_the_learners_own_line_and_frees_the_peers(run: Run) -> None:
    outcome = run("raises", 4).outcome
    assert outcome.how == "ended" and outcome.seconds < 10
    end = outcome.ends[1]
    assert end.how == "raised"
    first, second = end.text.splitlines()
    assert first == "ValueError: one of mine"
    assert second.startswith("  lab.py, line ") and second.endswith(
        'in raises: raise ValueError("one of mine")'
    )
    assert outcome.derived == {0, 2, 3}
    assert all("rank 1 has ended" in outcome.ends[rank].text for rank in (0, 2, 3))


def test_a_process_that_exits(run: Run) -> None:
    ran = run("exits", 3)
    assert ran.outcome.ends[1].how == "crashed" and ran.exits[1] == 3


def test_not_written_yet(run: Run) -> None:
    assert [end.how for end in run("unwritten", 2).outcome.ends] == ["missing", "missing"]


def test_a_rank_that_sleeps_is_named_at_the_deadline(run: Run) -> None:
    outcome = run("sleeps", 3, seconds=2.0).outcome
    assert outcome.how == "deadline" and 1.9 < outcome.seconds < 6
    assert "rank 1: waits for nobody; its own code runs" in outcome.picture
    assert (
        "rank 0: waits in all_reduce(4 bytes of float32, SUM) in group {0, 1, 2}, where rank 1 has not come"
        in outcome.picture
    )


def test_a_call_the_switch_does_not_offer(run: Run) -> None:
    outcome = run("speed", 2, rules=Rules(offered=frozenset({"send", "recv"}))).outcome
    assert all("this lab's switch offers no barrier" in end.text for end in outcome.ends)
    assert [call.offered for call in outcome.trace] == [False, False]


def test_what_ranks_print_is_kept_within_bounds(run: Run) -> None:
    ran = run("prints", 2)
    outputs(ran)
    for rank, text in enumerate(ran.printed):
        assert text.startswith("from C\n")
        assert f"hello from {rank}" in text
        assert len(text) < 17_000 and text.endswith("bytes more")


def test_memory_above_the_limit_is_named(run: Run) -> None:
    assert all(end.how == "done" for end in run("eats", 2, memory=900 << 20).outcome.ends)
    ends = run("eats", 2, memory=150 << 20).outcome.ends
    assert [end.how for end in ends] == ["limit", "limit"]
    assert ends[0].text.startswith("out of memory")


def test_oddities_come_back_as_what_they_are(run: Run) -> None:
    found = unpack(run("hands_in_oddities", 1).outcome.ends[0])
    assert isinstance(found, dict)
    assert found["none"] == Other("NoneType") and found["object"] == Other("object")
    assert found["nan"].isnan().all() and found["list"] == [1, 2.5, "x"]
