"""A lab as a notebook: the lab engine decides, and its verdict is written into the cells nbgrader knows."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
from nbformat import NotebookNode

from autograder.content import Assignment, Course, Lab, Misconception
from autograder.engine import explanation
from autograder.handin import page, preflight
from autograder.handin.source import Source
from autograder.verdict import Part, PartStatus, Status, Verdict, total, unscored, without_score

SHOWN_MOST = 200_000
"""Characters of a learner's lab.py shown in the notebook."""


def grade(
    course: Course,
    assignment: Assignment,
    student: str,
    folder: Path,
    known: Source,
    sandboxed: bool,
    run: str,
    seed: bytes,
) -> tuple[Verdict, NotebookNode]:
    """Grades `folder`/lab.py; the notebook beside it, where there is one, holds the explanation only."""
    try:
        from autograder.engine.lab import grade_lab  # torch and the switch: nobody without labs pays for them
    except ImportError as error:
        raise RuntimeError("grading labs needs torch: pip install 'shardlab[labs]'") from error

    lab = course.labs[assignment.lab or ""]
    lab_py = folder / "lab.py"
    prepared = preflight.prepare(folder, known)
    if prepared.absent:
        why = "nothing was handed in"
        return without_score(student, assignment.name, Status.ABSENT, known.max_score, why), prepared.notebook
    verdict = grade_lab(course, lab, student, lab_py, sandboxed=sandboxed, run=run, seed=seed)
    notebook = prepared.notebook
    essays = tuple(_essays(known, notebook, prepared))
    verdict = _whole(verdict, assignment, known, essays, prepared)
    _write(course, lab, known, notebook, verdict, lab_py)
    page.tell(notebook, prepared.notes)
    return verdict, notebook


def _essays(known: Source, notebook: NotebookNode, prepared: preflight.Prepared) -> list[Part]:
    found = {c.metadata.get("nbgrader", {}).get("grade_id"): c for c in notebook.cells}
    made = []
    for marked in known.graded:
        if marked.kind != "essay":
            continue
        if prepared.problem and not prepared.alone:
            why = f"The notebook could not be read: {prepared.problem}."
            more = {"answer": prepared.digest}
            made.append(unscored(explanation.part_id(marked), PartStatus.PENDING, marked.points, why, **more))
        else:
            made.append(explanation.judge(marked, found[marked.grade_id]))
    return made


def _whole(
    verdict: Verdict,
    assignment: Assignment,
    known: Source,
    essays: tuple[Part, ...],
    prepared: preflight.Prepared,
) -> Verdict:
    """The lab's verdict with the explanation's part, under the hand-in's own hash."""
    if verdict.status is Status.ABSENT:  # no lab.py, but the rest of it: a person looks at that
        verdict = msgspec.structs.replace(verdict, status=Status.UNGRADABLE)
    digest = hashlib.sha256(f"{verdict.submission}\0{prepared.digest}".encode()).hexdigest()
    notes = (*prepared.notes, *((prepared.problem,) if prepared.problem else ()))
    parts = (*verdict.parts, *essays) if verdict.status is Status.GRADED else verdict.parts
    return msgspec.structs.replace(
        verdict,
        assignment=assignment.name,
        parts=parts,
        score=total(parts) if verdict.status is Status.GRADED else verdict.score,
        max_score=known.max_score,
        notes=(*verdict.notes, *notes),
        submission=digest,
    )


def _write(
    course: Course, lab: Lab, known: Source, notebook: NotebookNode, verdict: Verdict, lab_py: Path
) -> None:
    beliefs = dict(course.misconceptions)
    for mistake in lab.mistakes.values():
        beliefs[mistake.id] = Misconception(id=mistake.id, name=mistake.what, refutation=mistake.why)
    by_id = {part.id: part for part in verdict.parts}
    first = True
    for cell in notebook.cells:
        marked = known.cells.get(cell.metadata.get("nbgrader", {}).get("grade_id", ""))
        if marked is None or marked.kind != "task":
            continue
        part = by_id.get(marked.grade_id.removeprefix("task-"))
        cell.outputs = (
            page.outputs([part], beliefs) if part else [page.note(verdict.reason or verdict.status)]
        )
        if first:
            cell.outputs.append(page.file_shown("lab.py", _text(lab_py)))
            first = False


def _text(lab_py: Path) -> str:
    try:
        content = preflight.read_file(lab_py)
    except preflight.Unreadable as problem:
        return str(problem)
    return content.decode("utf-8", "replace").replace("\x00", "")[:SHOWN_MOST]
