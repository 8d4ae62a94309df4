"""Grades one notebook hand-in: a folder in, a verdict and the notebook with the judge's outputs out.

Pure: touches no gradebook and no results, so that many may run at once, in threads or processes.
"""

from __future__ import annotations

import ast
import hashlib
import logging
import re
import secrets
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
from nbformat import NotebookNode

from autograder.content import Assignment, Course
from autograder.engine import evidence, explanation, labcells
from autograder.engine.cells import Cells, Ran, Trouble
from autograder.handin import digest, page, preflight, source
from autograder.handin.preflight import Prepared
from autograder.handin.source import Source, SourceCell
from autograder.intake.names import Rejected
from autograder.intake.opened import opened
from autograder.judge.exercise import CellFailure, judge_cell
from autograder.judge.key import Key, load_key
from autograder.sandbox import bwrap
from autograder.sandbox.kernel import KernelStartError
from autograder.verdict import Part, PartStatus, Status, Verdict, total, unscored, without_score

log = logging.getLogger(__name__)

Graded = tuple[Verdict, NotebookNode]


def grade_notebook(
    course: Course,
    assignment: Assignment,
    student: str,
    folder: Path,
    *,
    sandboxed: bool,
    run: str,
    engine: str = "local",
    seed: bytes | None = None,
) -> Graded:
    """The verdict on what `student` handed in in `folder`, and the notebook with the judge's outputs written into
    its check cells. Takes labs too, and what is handed in as an archive. `engine` says where this runs, `seed` draws
    the inputs (None: a fresh one). Never raises on what was handed in; what goes wrong on our side gives `blocked`.
    """
    begun = time.monotonic()
    known: Source | None = None
    seed = seed or secrets.token_bytes(evidence.SEED_BYTES)
    try:
        if sandboxed:
            bwrap.check_hidden(course.root)
        known = source.read(assignment.notebook)
        verdict, notebook = _opened(course, assignment, student, folder, known, sandboxed, run, seed)
    except Exception as error:  # the promise of this function: an exception of ours blocks this hand-in alone
        log.exception("%s/%s: grading broke", student, assignment.name)
        verdict, notebook = blocked(assignment, student, known, f"{type(error).__name__}: {error}")
    found = evidence.of(
        course, assignment, sandboxed=sandboxed, seed=seed, folder=folder, switch=verdict.evidence
    )
    about: dict[str, Any] = {"sandboxed": sandboxed, "run": run, "engine": engine, "evidence": found}
    about["seconds"] = round(time.monotonic() - begun, 3)
    return msgspec.structs.replace(verdict, **about), notebook


def blocked(assignment: Assignment, student: str, known: Source | None, why: str) -> Graded:
    """The verdict for a hand-in that could not be graded through a fault of ours or of the machine's."""
    points = known.max_score if known else 0.0
    verdict = without_score(student, assignment.name, Status.BLOCKED, points, why)
    return verdict, preflight.placeholder(known, why).notebook if known else preflight.nothing()


def keys(course: Course, known: Source, where: str = "", learner: str = "") -> dict[str, Key]:
    """The keys of all check cells by grade id, for the hand-in of `learner`; `where` says in errors what they were read
    from. Raises KeyProblem.
    """
    return {
        cell.grade_id: load_key(
            exercise=cell.exercise,
            points=cell.points,
            region_text=cell.hidden,
            course=course,
            where=f"{where or known.name}: {cell.grade_id}",
            learner=learner,
        )
        for cell in known.cells.values()
        if cell.kind == "check"
    }


def unread(assignment: Assignment, student: str, known: Source, prepared: Prepared) -> Verdict:
    """The verdict for a hand-in without anything to run."""
    status = Status.ABSENT if prepared.absent else Status.UNGRADABLE
    more = {"notes": prepared.notes, "submission": prepared.digest}
    return without_score(student, assignment.name, status, known.max_score, prepared.problem, **more)


def _opened(
    course: Course,
    assignment: Assignment,
    student: str,
    folder: Path,
    known: Source,
    sandboxed: bool,
    run: str,
    seed: bytes,
) -> Graded:
    """Grades what is handed in, or what is in the archive that is handed in; one that is refused is worth nothing."""
    try:
        with opened(folder, assignment.name) as found:
            if assignment.kind == "lab":
                graded = labcells.grade(
                    course, assignment, student, found.folder, known, sandboxed, run, seed
                )
            else:
                graded = _twice(course, assignment, student, found.folder, known, sandboxed, seed)
    except Rejected as refused:
        return _rejected(assignment, student, folder, known, str(refused))
    verdict, notebook = graded
    page.tell(notebook, found.notes)
    return msgspec.structs.replace(verdict, notes=(*found.notes, *verdict.notes)), notebook


def _rejected(assignment: Assignment, student: str, folder: Path, known: Source, why: str) -> Graded:
    verdict = Verdict(
        student=student,
        assignment=assignment.name,
        status=Status.REJECTED,
        score=0.0,
        max_score=known.max_score,
        reason=f"refused before anything ran: {why}; then hand in again",
        submission=digest.of_folder(folder),
    )
    return verdict, preflight.placeholder(known, verdict.reason).notebook


def _twice(
    course: Course,
    assignment: Assignment,
    student: str,
    folder: Path,
    known: Source,
    sandboxed: bool,
    seed: bytes,
) -> Graded:
    """A kernel that does not come up is tried once more before it blocks the hand-in."""
    try:
        return _grade(course, assignment, student, folder, known, sandboxed, seed)
    except KernelStartError:
        return _grade(course, assignment, student, folder, known, sandboxed, seed)


def _grade(
    course: Course,
    assignment: Assignment,
    student: str,
    folder: Path,
    known: Source,
    sandboxed: bool,
    seed: bytes,
) -> Graded:
    prepared = preflight.prepare(folder, known)
    if prepared.problem:
        return unread(assignment, student, known, prepared), prepared.notebook
    all_keys = keys(course, known, learner=student)
    with tempfile.TemporaryDirectory(prefix="shardlab-files-") as name:
        notes = preflight.copy_files(folder, Path(name))
        with Cells(Path(name), course.limits, sandboxed, seed) as cells:
            parts = _run(course, prepared.notebook, known, all_keys, cells, seed)
    notes = [*prepared.notes, *notes]
    page.tell(prepared.notebook, notes)
    verdict = Verdict(
        student=student,
        assignment=assignment.name,
        status=Status.GRADED,
        score=total(parts),
        max_score=known.max_score,
        parts=tuple(parts),
        notes=tuple(notes),
        submission=prepared.digest,
    )
    return verdict, prepared.notebook


def _run(
    course: Course, notebook: NotebookNode, known: Source, all_keys: dict[str, Key], cells: Cells, seed: bytes
) -> list[Part]:
    parts: dict[str, tuple[Part, ...]] = {}
    troubles: list[Trouble] = []
    above: list[str] = []  # the learner's texts since the last check cell: what that answer is made of
    for cell in notebook.cells:
        marked = known.cells.get(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        if marked is not None and marked.kind == "check":
            ran = cells.run(_check_code(marked), all_keys[marked.grade_id])
            answer = hashlib.sha256("\0".join(above).encode()).hexdigest()
            judged = _judge(course, all_keys[marked.grade_id], ran, seed, answer)
            judged = _explain(judged, marked, troubles)
            parts[marked.grade_id] = judged
            cell.outputs = page.outputs(judged, course.misconceptions)
            cell.source = (
                marked.node.source
            )  # with its region, as nbgrader keeps it: this notebook is for graders
            above = []
        elif marked is not None and marked.kind == "essay":
            essay = explanation.judge(marked, cell)
            parts[marked.grade_id] = (essay,)
        elif cell.cell_type == "code" and cell.source.strip():
            ran = cells.run(cell.source)
            cell.outputs = ran.outputs
            if ran.trouble:
                # what the cell was there to make counts too: a learner may have replaced all of it
                meant = f"{ran.trouble.text}\n{marked.shown}" if marked else ran.trouble.text
                troubles.append(replace(ran.trouble, text=meant))
            if marked is None or marked.kind == "answer":
                above.append(cell.source)
    return [part for name in known.cells for part in parts.get(name, ())]


def _judge(course: Course, key: Key, ran: Ran, seed: bytes, answer: str) -> tuple[Part, ...]:
    failure = CellFailure(ran.trouble.status, f"This cell {ran.trouble.what}.") if ran.trouble else None
    return judge_cell(
        key, ran.heard, seed=seed, misconceptions=course.misconceptions, failure=failure, answer_hash=answer
    )


def _check_code(marked: SourceCell) -> str:
    """What the kernel gets of a check cell: our text without its region. Names nobody defined count as `...`, so that
    one forgotten answer does not cost its neighbours; `submit` is ours again, should a learner have used the name.
    """
    names = sorted(set().union(*_names(marked.shown).values()))
    unset = f"globals().update({{n: ... for n in {names!r} if n not in globals()}})"
    return f"from autograder import submit; {unset}\n{marked.shown}"


def _explain(judged: Iterable[Part], marked: SourceCell, troubles: list[Trouble]) -> tuple[Part, ...]:
    """Says of a missing answer what became of the cell that should have made it."""
    by_part = _names(marked.shown)
    everything = set().union(*by_part.values())
    told = []
    for part in judged:
        if part.status is PartStatus.MISSING:
            names = by_part.get(part.id.rpartition("/")[2], everything)
            found = [t for t in troubles if any(re.search(rf"\b{re.escape(n)}\b", t.text) for n in names)]
            if found:
                why = f"The cell that makes this answer {found[-1].what}."
                more = {"key": part.key, "answer": part.answer, "evidence": part.evidence}
                part = unscored(part.id, found[-1].status, part.max_score, why, **more)
        told.append(part)
    return tuple(told)


def _names(shown: str) -> dict[str, set[str]]:
    """For each keyword of the `submit` call in a check cell, the names its value is made of."""
    for node in ast.walk(ast.parse(shown)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "submit":
            return {
                str(word.arg): {n.id for n in ast.walk(word.value) if isinstance(n, ast.Name)}
                for word in node.keywords
            }
    return {}
