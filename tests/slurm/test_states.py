"""What Slurm says, read: without a Slurm."""

from __future__ import annotations

import pytest

from autograder.engine.slurm.states import State, meaning, of_scontrol, of_squeue


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("COMPLETED", State.ENDED),
        ("CANCELLED by 0", State.CANCELLED),
        ("CANCELLED+", State.CANCELLED),
        ("PREEMPTED", State.CANCELLED),
        ("COMPLETING", State.RUNNING),
        ("REQUEUED", State.WAITING),
        ("TIMEOUT", State.OUT_OF_TIME),
        ("DEADLINE", State.OUT_OF_TIME),
        ("OUT_OF_MEMORY", State.OUT_OF_MEMORY),
        ("NODE_FAIL", State.NODE_FAILED),
        ("BOOT_FAIL", State.NODE_FAILED),
        ("FAILED", State.FAILED),
        ("of a later Slurm", State.RUNNING),
        ("", State.RUNNING),
    ],
)
def test_every_word_has_its_meaning(word: str, state: State) -> None:
    assert meaning(word) is state
    assert state.over == (state not in (State.RUNNING, State.WAITING))


def test_squeue_is_read_line_by_line_and_what_is_no_job_passed_over() -> None:
    said = "Welcome!\n\n12|PENDING|shardlab-ab-00001\n13|RUNNING|a|b\nsqueue: error: x\n14_2|RUNNING|array\n"
    assert [(t.id, t.state, t.name) for t in of_squeue(said)] == [
        ("12", State.WAITING, "shardlab-ab-00001"),
        ("13", State.RUNNING, "a|b"),
    ]


def test_scontrol_is_read_and_later_fields_of_the_same_name_change_nothing() -> None:
    said = "JobId=7 JobName=x JobState=NODE_FAIL Reason=NodeDown Comment=JobState=RUNNING JobState=RUNNING\n"
    told = of_scontrol(said)
    assert told is not None and (told.id, told.name, told.state) == ("7", "x", State.NODE_FAILED)
    assert of_scontrol("slurm_load_jobs error: Invalid job id specified\n") is None
