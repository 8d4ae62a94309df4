"""Grades one lab hand-in: runs every case of every task on real ranks through the switch, and judges what came back.

A task earns its points when all its cases pass; the first that fails ends the task and is told. A ring that only works
on one rank is no ring, so a share for the easy cases would reward not solving it.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import tempfile
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from autograder.content import Case, Course, Lab, Task
from autograder.judge.lab import Checks, ChecksError, Finding, load_checks, pack, unpack
from autograder.judge.switch import End, Rules
from autograder.sandbox.ranks import Greeting, Place, Ran, RankBox
from autograder.sandbox.unavailable import BoxFailed, SandboxUnavailable
from autograder.verdict import Part, PartStatus, Status, Verdict, scored, total, unscored

MiB = 1 << 20
MAX_SOURCE = MiB
_ENDED = {
    "missing": PartStatus.MISSING,
    "raised": PartStatus.FAILED,
    "fault": PartStatus.FAILED,
    "limit": PartStatus.LIMIT,
    "crashed": PartStatus.CRASHED,
}


@dataclass(frozen=True)
class Failure:
    """Why a case did not pass."""

    status: PartStatus
    text: str
    mistake: str | None = None
    evidence: dict[str, Any] = field(default_factory=dict)


def grade_lab(
    course: Course,
    lab: Lab,
    student: str,
    lab_py: Path,
    *,
    sandboxed: bool,
    run: str,
    seed: bytes | None = None,
) -> Verdict:
    """The verdict on `lab_py`, one part a task; `seed` draws the inputs (None: a fresh one). Its evidence is the record
    of each case's calls, by task and case. Never raises: a missing hand-in is `absent`, one that cannot be read
    `ungradable`, and what goes wrong on our side `blocked`."""
    start = time.monotonic()
    source = _read(lab_py)
    most = sum(task.points for task in lab.tasks)
    about: dict[str, Any] = {"student": student, "assignment": lab.assignment, "max_score": most}
    about |= {"run": run, "sandboxed": sandboxed}
    if not isinstance(source, bytes):
        return Verdict(status=source[0], score=None, reason=source[1], **about)
    about["submission"] = hashlib.sha256(source).hexdigest()
    try:
        known = frozenset(course.misconceptions) | frozenset(lab.mistakes)
        secret = seed or secrets.token_bytes(16)
        try:
            parts, record = _grade(lab, source, sandboxed, known, secret)
        except BoxFailed:  # the machine's hiccup, or its state: a second box tells
            parts, record = _grade(lab, source, sandboxed, known, secret)
    except (SandboxUnavailable, BoxFailed) as error:
        return _blocked(lab, str(error), about)
    except (
        Exception
    ) as error:  # an honest fault of ours must not cost a learner their score, nor the others theirs
        where = traceback.extract_tb(error.__traceback__)[-1]
        return _blocked(
            lab, f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})", about
        )
    about |= {"seconds": time.monotonic() - start, "evidence": record}
    return Verdict(status=Status.GRADED, score=total(parts), parts=parts, **about)


def _blocked(lab: Lab, reason: str, about: dict[str, Any]) -> Verdict:
    parts = tuple(unscored(task.id, PartStatus.BLOCKED, task.points, reason) for task in lab.tasks)
    return Verdict(status=Status.BLOCKED, score=None, parts=parts, reason=reason, **about)


def _read(path: Path) -> bytes | tuple[Status, str]:
    """The hand-in's bytes, or the status and reason of one that cannot be graded. Follows no link."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return Status.ABSENT, f"no {path.name} was handed in"
    except OSError as error:
        return Status.UNGRADABLE, f"{path.name} cannot be opened: {error.strerror}"
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return Status.UNGRADABLE, f"{path.name} is no regular file"
    with os.fdopen(handle, "rb") as file:
        source = file.read(MAX_SOURCE + 1)
    if len(source) > MAX_SOURCE:
        return Status.UNGRADABLE, f"{path.name} is larger than {MAX_SOURCE >> 20} MiB"
    return source


def _grade(
    lab: Lab, source: bytes, sandboxed: bool, known: frozenset[str], secret: bytes
) -> tuple[tuple[Part, ...], dict[str, str]]:
    """The parts, and the digest of what the ranks called in each case that ran on the switch."""
    # a hand-in is judged on one core: two threads over small products, on cores that others use, wait for each other
    torch.set_num_threads(1)
    checks = load_checks(lab.folder)
    hashes = {"key": _key(lab), "answer": hashlib.sha256(source).hexdigest()}
    record: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="lab-") as folder:
        lab_py = Path(folder) / "lab.py"
        lab_py.write_bytes(source)
        lab_py.chmod(0o444)
        memory = MiB * max(_memory_mib(lab, case) * case.world for task in lab.tasks for case in task.cases)
        with RankBox(lab.folder / "run.py", lab_py, sandboxed=sandboxed, memory_bytes=memory) as box:
            parts = tuple(_task(lab, task, checks, box, secret, hashes, known, record) for task in lab.tasks)
    return parts, record


def _memory_mib(lab: Lab, case: Case) -> int:
    """What one rank of a case may have."""
    return case.memory_mib or lab.limits.memory_mib


def _key(lab: Lab) -> str:
    """A hash of everything that decides in a lab."""
    digest = hashlib.sha256()
    for name in ("lab.toml", "run.py", "checks.py"):
        digest.update((lab.folder / name).read_bytes() + b"\0")
    return digest.hexdigest()


def _task(
    lab: Lab,
    task: Task,
    checks: Checks,
    box: RankBox,
    secret: bytes,
    hashes: dict[str, str],
    known: frozenset[str],
    record: dict[str, str],
) -> Part:
    evidence: dict[str, Any] = {}
    undecided: dict[str, str] = {}
    for index, case in enumerate(task.cases):
        seed = int.from_bytes(hashlib.sha256(secret + f"{task.id}/{index}".encode()).digest()[:6])
        failure, seen = _case(lab, task, case, checks, box, seed)
        evidence = {"case": index, "seed": seed, **seen}
        if case.backend == "switch":
            record[f"{task.id}/{index}"] = seen["trace"]
        if "undecided" in seen:
            undecided[case.backend] = seen["undecided"]
        if failure is None:
            continue
        if failure.mistake is not None and failure.mistake not in known:
            raise ChecksError(f"{lab.name}: checks.py names {failure.mistake!r}, which nobody has described")
        reason = f"{_title(task, index)}: {failure.text}"
        evidence |= failure.evidence
        more: dict[str, Any] = {"misconception": failure.mistake, "evidence": evidence, **hashes}
        if failure.status is PartStatus.FAILED:
            return scored(task.id, 0.0, task.points, reason, **more)
        return unscored(task.id, failure.status, task.points, reason, **more)
    reason = f"right in all {len(task.cases)} cases"
    more_evidence = {"undecided": undecided} if undecided else {}
    return scored(
        task.id, 1.0, task.points, reason, evidence={"cases": len(task.cases), **more_evidence}, **hashes
    )


def _case(
    lab: Lab, task: Task, case: Case, checks: Checks, box: RankBox, seed: int
) -> tuple[Failure | None, dict[str, Any]]:
    """Runs and judges one case: why it failed (None: it passed), and what graders may want to see of it."""
    inputs = checks.given(task.id, case, seed)
    groups = {"group": list(case.group)} if case.group is not None else {}
    greetings = []
    store = box.store() if case.backend != "switch" else ""
    for rank, given in enumerate(inputs):
        head, payload = pack(given)
        about = {
            "op": "start",
            "task": task.id,
            "rank": rank,
            "world": case.world,
            "groups": groups,
            "memory": _memory_mib(lab, case) * MiB,
            "backend": case.backend,
            "store": store,
        }
        greetings.append(Greeting({**about, **head}, payload))
    rules = Rules(
        offered=frozenset(case.calls) or None,
        hold=case.hold,
        scramble=case.scramble,
    )
    place = Place("rank" if case.backend == "switch" else "equality")
    ran = box.run(greetings, rules, case.seconds or lab.limits.seconds, place)
    outcome = ran.outcome
    seen = {
        "how": outcome.how,
        "trace": outcome.digest(),
        "calls": len(outcome.trace),
        "seconds": round(outcome.seconds, 3),
        "printed": {str(rank): text for rank, text in enumerate(ran.printed) if text},
    }
    failure = _ended_badly(ran)
    if failure is not None and case.backend != "switch":
        # A real backend decides equality and nothing else: what it does not offer, or waits for in another way, has
        # been judged on the switch.
        return None, {**seen, "undecided": failure.text}
    if failure is not None:
        mistake = None if failure.status is PartStatus.MISSING else checks.explain(task.id, case, outcome)
        return Failure(failure.status, failure.text, mistake), seen
    outputs = [unpack(end) for end in outcome.ends]
    for rank, found in enumerate(outputs):
        if isinstance(found, Finding):
            return Failure(PartStatus.FAILED, f"rank {rank}: {found.text}"), seen
    read = [found for found in outputs if not isinstance(found, Finding)]
    findings = checks.judge(task.id, case, inputs, read, outcome.trace, {})
    if not findings:
        return None, seen
    first = next((f for f in findings if f.mistake), findings[0])
    text = "; ".join(dict.fromkeys(f.text for f in findings[:3]))
    return Failure(PartStatus.FAILED, text, first.mistake, dict(first.evidence)), seen


def _ended_badly(ran: Ran) -> Failure | None:
    """The failure of a case in which not every rank handed in outputs; None when all did."""
    outcome = ran.outcome
    if outcome.how == "parted":
        return Failure(PartStatus.FAILED, outcome.text)
    bad = [rank for rank, end in enumerate(outcome.ends) if end.how not in ("done", "stopped")]
    causes = [rank for rank in bad if rank not in outcome.derived] or bad
    if causes:
        # a rank that broke down tells more than the ranks that then stood still
        end = outcome.ends[causes[0]]
        if end.how == "crashed" and ran.out_of_memory:
            return Failure(
                PartStatus.LIMIT, f"rank {causes[0]} was ended: the ranks together used up their memory"
            )
        return Failure(_ENDED[end.how], _ending(causes[0], end, ran.exits[causes[0]]))
    if outcome.how in ("stuck", "deadline"):
        return Failure(PartStatus.TIMEOUT, f"{outcome.text}:\n{outcome.picture}")
    return None


def _ending(rank: int, end: End, status: int | None) -> str:
    if end.how == "missing":
        return "not written yet (NotImplementedError)"
    if end.how == "crashed":
        how = (
            ""
            if status is None
            else f" (killed by signal {-status})"
            if status < 0
            else f" (exit status {status})"
        )
        return f"rank {rank} ended its process{how} before its code returned"
    if end.how == "fault":
        return f"rank {rank} wrote to the switch past the process group: {end.text}"
    return f"rank {rank}: {end.text}"


def _title(task: Task, index: int) -> str:
    case = task.cases[index]
    what = [f"{case.world} rank{'s' if case.world > 1 else ''}"]
    if case.group is not None:
        what.append(f"in the subgroup of ranks {', '.join(map(str, case.group))}")
    if case.hold:
        what.append("nothing arrives before it is waited for")
    if case.backend != "switch":
        what.append(f"on {case.backend}, equality only")
    if case.use == "hidden":
        what.append("hidden inputs")
    return f"case {index + 1} of {len(task.cases)} ({'; '.join(what)})"
