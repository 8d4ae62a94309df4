"""A worker: grades one hand-in after the other, each into a file of the spool, until its pool has no more or is gone.

`python -m autograder.engine.worker --slot N --channel FD`: JSON lines on a socket, an `Order` in, an `Answer` out.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import select
import signal
import socket
import threading
import traceback
from pathlib import Path

import msgspec

from autograder import course as courses
from autograder.engine.job import Job
from autograder.engine.notebook import grade_notebook
from autograder.engine.spool import Spool
from autograder.learner.box import linux

log = logging.getLogger(__name__)


class Order(msgspec.Struct, frozen=True):
    """A job for a worker: where its result goes, and the GPUs it may use."""

    job: Job
    spool: str
    gpus: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    """What became of a job: `why` is empty when its result lies in the spool; `unwritable`: it is none of the job's
    fault that it does not.
    """

    id: str
    why: str = ""
    unwritable: bool = False


def main() -> None:
    """The worker's process."""
    parser = argparse.ArgumentParser(description="A worker of `shardlab grade`; started by its pool.")
    parser.add_argument("--slot", type=int, required=True)
    parser.add_argument("--channel", type=int, required=True)
    parser.add_argument("--parent", type=int, required=True)
    given = parser.parse_args()
    channel = socket.socket(fileno=given.channel)
    _end_with(given.parent, channel)
    logging.basicConfig(
        level=logging.WARNING, format=f"%(levelname)s:worker {given.slot}:%(name)s:%(message)s"
    )
    with contextlib.suppress(BrokenPipeError), channel, channel.makefile("rb") as orders:
        for line in orders:
            answer = _grade(msgspec.json.decode(line, type=Order))
            channel.sendall(msgspec.json.encode(answer) + b"\n")


def _end_with(parent: int, channel: socket.socket) -> None:
    """This process ends when its pool has, in whatever way that ended, and its boxes with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pool's to hear
    linux.die_with_parent()
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)

    def watch() -> None:
        # The signal comes only where the parent is who started us; the end of the channel always does.
        poll = select.poll()
        poll.register(channel, select.POLLRDHUP)
        while True:
            if any(what & (select.POLLHUP | select.POLLERR) for _, what in poll.poll()):
                os.kill(os.getpid(), signal.SIGKILL)
            threading.Event().wait(0.2)  # told to finish: that is the main thread's to hear

    threading.Thread(target=watch, name="watch", daemon=True).start()


def _grade(order: Order) -> Answer:
    job = order.job
    os.environ["CUDA_VISIBLE_DEVICES"] = ",".join(order.gpus)
    try:
        course = courses.load(Path(job.root))
        verdict, notebook = grade_notebook(
            course,
            course.assignment(job.assignment),
            job.student,
            Path(job.folder),
            sandboxed=job.sandboxed,
            run=job.run,
            engine=job.engine,
        )
        try:
            Spool(Path(order.spool)).put(job, verdict, notebook)
        except OSError as error:
            return Answer(job.id, f"{order.spool}: {error.strerror}", unwritable=True)
    except Exception as error:  # this job's worker broke: that blocks this job alone
        log.exception("%s/%s: the worker broke", job.student, job.assignment)
        where = traceback.extract_tb(error.__traceback__)[-1]
        return Answer(job.id, f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})")
    return Answer(job.id)


if __name__ == "__main__":
    main()
