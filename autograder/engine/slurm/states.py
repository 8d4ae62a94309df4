"""What Slurm says of jobs, read. Pure: text in, states out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

FORMAT = "%i|%T|%j"
"""What squeue is asked to print of each job: id, state, name."""


class State(Enum):
    """What a job's state means to us."""

    WAITING = "waiting"
    RUNNING = "running"
    ENDED = "ended"
    FAILED = "failed"
    OUT_OF_TIME = "out of time"
    OUT_OF_MEMORY = "out of memory"
    NODE_FAILED = "node failed"
    CANCELLED = "cancelled"
    LOST = "lost"

    @property
    def over(self) -> bool:
        """Nothing more will come of the job."""
        return self not in (State.WAITING, State.RUNNING)


_MEANING = {
    "BOOT_FAIL": State.NODE_FAILED,
    "CANCELLED": State.CANCELLED,
    "COMPLETED": State.ENDED,
    "COMPLETING": State.RUNNING,
    "CONFIGURING": State.WAITING,
    "DEADLINE": State.OUT_OF_TIME,
    "FAILED": State.FAILED,
    "LAUNCH_FAILED": State.NODE_FAILED,
    "NODE_FAIL": State.NODE_FAILED,
    "OUT_OF_MEMORY": State.OUT_OF_MEMORY,
    "PENDING": State.WAITING,
    "PREEMPTED": State.CANCELLED,
    "RECONFIG_FAIL": State.NODE_FAILED,
    "REQUEUED": State.WAITING,
    "REQUEUE_FED": State.WAITING,
    "REQUEUE_HOLD": State.WAITING,
    "RESIZING": State.RUNNING,
    "RESV_DEL_HOLD": State.WAITING,
    "REVOKED": State.CANCELLED,
    "RUNNING": State.RUNNING,
    "SIGNALING": State.RUNNING,
    "SPECIAL_EXIT": State.WAITING,
    "STAGE_OUT": State.RUNNING,
    "STOPPED": State.RUNNING,
    "SUSPENDED": State.RUNNING,
    "TIMEOUT": State.OUT_OF_TIME,
}


@dataclass(frozen=True)
class Told:
    """One job as Slurm tells of it. `word`: the state in Slurm's own words."""

    id: str
    state: State
    word: str
    name: str


def meaning(word: str) -> State:
    """The meaning of a state in Slurm's words, such as `CANCELLED by 0` or `NODE_FAIL+`. A state that this program
    does not know is not over: a job is never submitted again because of a word.
    """
    first = word.strip().split(" ")[0].split("+")[0].split(",")[0].upper()
    return _MEANING.get(first, State.RUNNING)


def of_squeue(text: str) -> list[Told]:
    """What `squeue --noheader --format=FORMAT` printed. Other lines (a site's greetings) are passed over."""
    found = []
    for line in text.splitlines():
        number, _, rest = line.strip().partition("|")
        word, bar, name = rest.partition("|")
        if bar and number.isdigit():
            found.append(Told(number, meaning(word), word, name))
    return found


def of_scontrol(text: str) -> Told | None:
    """What `scontrol show job --oneliner ID` printed of one job; None where it is not about one."""
    fields: dict[str, str] = {}
    for word in text.split():
        name, equals, value = word.partition("=")
        if equals:
            fields.setdefault(name, value)
    if not fields.get("JobId", "").isdigit() or "JobState" not in fields:
        return None
    return Told(fields["JobId"], meaning(fields["JobState"]), fields["JobState"], fields.get("JobName", ""))
