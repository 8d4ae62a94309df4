"""The box of the ranks: what it shows, and that nothing of it stays."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from lab_ranks import Run, greetings, outputs

from autograder.judge.switch import Rules
from autograder.learner.lab.limits import descendants
from autograder.sandbox.ranks import BoxFailed, RankBox, _receive

HERE = Path(__file__).parent


@contextmanager
def fresh(*, sandboxed: bool = True, run_py: Path = HERE / "scenario_run.py") -> Iterator[RankBox]:
    with RankBox(run_py, HERE / "scenarios.py", sandboxed=sandboxed) as box:
        yield box


def below_us() -> set[int]:
    return set(descendants(os.getpid()))


def test_a_rank_sees_no_judge_no_network_and_can_write_nothing_of_ours(run: Run) -> None:
    seen = outputs(run("looks_around", 1))[0]
    assert seen["judge"] is False and seen["engine"] is False and seen["network"] is False
    assert seen["files"] == ["lab.py", "run.py"] and seen["writes"] == []
    assert not [name for name in seen["environment"] if "SHARDLAB" in name or "TOKEN" in name]
    # beside in, out and error
    assert seen["descriptors"] == ["socket"]


@pytest.mark.parametrize("sandboxed", [True, False])
def test_daemons_are_gone_after_the_case_and_all_is_gone_after_the_box(sandboxed: bool) -> None:
    before = below_us()
    with fresh(sandboxed=sandboxed) as box:
        outputs(box.run(greetings("objects", 2, None), Rules(), 30))
        idle = below_us() - before
        assert idle
        ran = box.run(greetings("leaves_daemons", 2, None), Rules(), 30)
        outputs(ran)
        assert below_us() - before == idle
    assert below_us() == before


@pytest.mark.parametrize("sandboxed", [True, False])
def test_a_timeout_ends_every_process_of_the_case(sandboxed: bool) -> None:
    before = below_us()
    with fresh(sandboxed=sandboxed) as box:
        outputs(box.run(greetings("objects", 2, None), Rules(), 30))
        idle = below_us() - before
        assert box.run(greetings("sleeps", 3, None), Rules(), 1.0).outcome.how == "deadline"
        assert below_us() - before == idle
        outputs(box.run(greetings("objects", 2, None), Rules(), 30))  # the slot is free again
    assert below_us() == before


def test_a_box_whose_runner_was_killed_is_replaced() -> None:
    with fresh() as box:
        ran = box.run(greetings("kills_the_runner", 2, None), Rules(), 20)
        assert ran.box_died and ran.outcome.how in ("ended", "deadline")
        outputs(box.run(greetings("objects", 2, None), Rules(), 30))


def test_after_the_deadline_a_runner_is_not_listened_to() -> None:
    """Whoever got hold of the runner's end of the control socket, and never stops talking, does not hold the judge."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        for _ in range(2):
            theirs.send(b'{"op": "exit", "rank": 0, "status": 0}')
        assert _receive(ours, time.monotonic() + 10) == {"op": "exit", "rank": 0, "status": 0}
        assert _receive(ours, time.monotonic() - 0.001) is None


def test_a_box_that_has_gone_between_two_cases_says_so_and_leaves_nothing_open() -> None:
    with fresh() as box:
        outputs(box.run(greetings("objects", 2, None), Rules(), 30))
        assert box._control is not None
        before = len(list(Path("/proc/self/fd").iterdir()))
        box._control.close()
        with pytest.raises(BoxFailed, match="gone"):
            box.run(greetings("objects", 2, None), Rules(), 30)
        assert len(list(Path("/proc/self/fd").iterdir())) <= before


def test_a_box_that_does_not_start_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "run.py"
    broken.write_text("import no_such_module\n")
    with fresh(run_py=broken) as box, pytest.raises(BoxFailed, match="no_such_module"):
        box.run(greetings("objects", 2, None), Rules(), 30)


def test_ranks_without_a_box_do_the_same() -> None:
    with fresh(sandboxed=False) as box:
        got = outputs(box.run(greetings("objects", 3, None), Rules(), 30))
        assert [out["box"] for out in got] == [{"from": 1}] * 3
