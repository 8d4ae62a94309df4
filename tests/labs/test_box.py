"""The box of the ranks: what it shows, and that nothing of it stays."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from lab_ranks import Run, greetings, outputs

from autograder.judge.switch import Rules
from autograder.learner.box.limits import descendants
from autograder.sandbox import zygote
from autograder.sandbox.ranks import RankBox
from autograder.sandbox.session import receive
from autograder.sandbox.unavailable import BoxFailed

HERE = Path(__file__).parent


@contextmanager
def fresh(*, sandboxed: bool = True, run_py: Path = HERE / "scenario_run.py") -> Iterator[RankBox]:
    with RankBox(run_py, HERE / "scenarios.py", sandboxed=sandboxed) as box:
        yield box


def alive() -> set[int]:
    """The processes below us. Those that have ended and wait to be buried do not count: when that is done is the
    zygote's business."""
    found = set()
    for pid in descendants(os.getpid()):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z":
                found.add(pid)
    return found


def test_a_rank_sees_no_judge_no_network_and_can_write_nothing_of_ours(run: Run) -> None:
    seen = outputs(run("looks_around", 1))[0]
    assert seen["judge"] is False and seen["engine"] is False and seen["network"] is False
    assert seen["files"] == ["lab.py", "run.py"] and seen["writes"] == []
    assert not [name for name in seen["environment"] if "SHARDLAB" in name or "TOKEN" in name]
    # beside in, out and error
    assert seen["descriptors"] == ["socket"]


def test_in_a_box_no_rank_starts_a_process() -> None:
    with fresh() as box:
        ran = box.run(greetings("leaves_daemons", 2, None), Rules(), 30)
        assert [end.how for end in ran.outcome.ends] == ["limit", "limit"]
        assert "new processes are not allowed" in ran.outcome.ends[0].text


def test_without_a_box_daemons_are_gone_after_the_case() -> None:
    with fresh(sandboxed=False) as box:
        outputs(box.run(greetings("objects", 2, None), Rules(), 30))
        idle = alive()
        outputs(box.run(greetings("leaves_daemons", 2, None), Rules(), 30))
        assert alive() == idle


@pytest.mark.parametrize("sandboxed", [True, False])
def test_a_timeout_ends_every_process_of_the_case_and_leaving_all_others(sandboxed: bool) -> None:
    zygote.warm("ranks", sandboxed=sandboxed)
    before = alive()
    with fresh(sandboxed=sandboxed) as box:
        outputs(box.run(greetings("objects", 2, None), Rules(), 30))
        idle = alive()
        assert len(idle - before) == 1, "a supervisor, and nothing else, stays between two cases"
        assert box.run(greetings("sleeps", 3, None), Rules(), 1.0).outcome.how == "deadline"
        assert alive() == idle
        outputs(box.run(greetings("objects", 2, None), Rules(), 30))  # the slot is free again
    assert alive() == before


def test_a_rank_cannot_end_what_started_it() -> None:
    with fresh() as box:
        assert box.run(greetings("kills_the_runner", 2, None), Rules(), 3).outcome.how == "deadline"


def test_a_supervisor_that_was_killed_is_replaced() -> None:
    with fresh() as box:
        outputs(box.run(greetings("objects", 2, None), Rules(), 30))
        assert box._session is not None
        signal.pidfd_send_signal(box._session._supervisor, signal.SIGKILL)
        select.select([box._session._supervisor], [], [])
        outputs(box.run(greetings("objects", 2, None), Rules(), 30))


def test_a_box_that_was_killed_is_replaced() -> None:
    with fresh() as box:
        outputs(box.run(greetings("objects", 2, None), Rules(), 30))
    inner = zygote.warm("ranks", sandboxed=True)
    signal.pidfd_send_signal(inner._inner, signal.SIGKILL)
    with fresh() as box:
        outputs(box.run(greetings("objects", 2, None), Rules(), 30))
    assert zygote.warm("ranks", sandboxed=True) is not inner


def test_after_the_deadline_a_runner_is_not_listened_to() -> None:
    """Whoever got hold of the runner's end of the control socket, and never stops talking, does not hold the judge."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        for _ in range(2):
            theirs.send(b'{"op": "exit", "name": 0, "status": 0}')
        assert receive(ours, time.monotonic() + 10) == {"op": "exit", "name": 0, "status": 0}
        assert receive(ours, time.monotonic() - 0.001) is None


def test_a_box_that_does_not_start_says_why(tmp_path: Path) -> None:
    broken = tmp_path / "run.py"
    broken.write_text("import no_such_module\n")
    with fresh(run_py=broken) as box, pytest.raises(BoxFailed, match="no_such_module"):
        box.run(greetings("objects", 2, None), Rules(), 30)


def test_ranks_without_a_box_do_the_same() -> None:
    with fresh(sandboxed=False) as box:
        got = outputs(box.run(greetings("objects", 3, None), Rules(), 30))
        assert [out["box"] for out in got] == [{"from": 1}] * 3


def test_inputs_larger_than_a_sockets_buffer_arrive(box: RankBox) -> None:
    large = torch.arange(6 << 20, dtype=torch.float32)  # 24 MiB a rank; the switch's buffers hold 4
    ran = box.run(greetings("sums_its_input", 2, [{"x": large}, {"x": large}]), Rules(), 30.0)
    assert [float(out["sum"]) for out in outputs(ran)] == [float(large.double().sum())] * 2
