"""A worker process: grades one job at a time and writes what it brought into the spool.

On its socket (the descriptor it is given) come lines of JSON, {"job": …, "gpus": [uuid, …], "nodes": [path, …]}; it
answers each with {"done": id}, {"failed": id, "why": …} for a fault of ours, or {"unwritable": id, "why": …} where the
result could not be kept. It ends when the socket closes, and is
killed with the thread that started it.
"""

from __future__ import annotations

import argparse
import json
import logging
import signal
import socket
from pathlib import Path
from typing import Any

import msgspec

from autograder import course as courses
from autograder.engine.job import Job
from autograder.engine.notebook import grade_notebook
from autograder.engine.spool import Spool
from autograder.learner.box import linux


def main(words: list[str] | None = None) -> None:
    """Serves until the socket closes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("fd", type=int)
    parser.add_argument("spool", type=Path)
    parser.add_argument("log", type=Path)
    told = parser.parse_args(words)
    linux.die_with_parent()
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # the person's Ctrl-C is for the pool, which ends us in its time
    logging.basicConfig(filename=told.log, level=logging.WARNING, force=True)
    spool = Spool(told.spool)
    with socket.socket(fileno=told.fd) as line, line.makefile("rb") as lines:
        for text in lines:
            line.sendall(json.dumps(_grade(json.loads(text), spool)).encode() + b"\n")


def _grade(order: dict[str, Any], spool: Spool) -> dict[str, str]:
    job = msgspec.convert(order["job"], Job)
    try:
        # Loaded for each job, a few milliseconds: a course may be mended while its hand-ins are graded.
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
    except Exception as error:  # the promise of this process: a fault of ours costs one job, and is told
        logging.exception("%s/%s: grading broke", job.student, job.assignment)
        return {"failed": job.id, "why": f"{type(error).__name__}: {error}"}
    try:
        spool.put(job, verdict, notebook)
    except OSError as error:
        return {"unwritable": job.id, "why": f"{spool.folder} cannot be written: {error.strerror}"}
    return {"done": job.id}


if __name__ == "__main__":
    main()
