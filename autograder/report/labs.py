"""A learner's own loop on a lab: try lab.py on real ranks through the switch, and get a hint one step at a time."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.padding import Padding
from rich.text import Text

from autograder.content import Course, Lab, Task
from autograder.tomlfile import ContentError
from autograder.verdict import Part, PartStatus, Verdict

_SIGN = {PartStatus.PASSED: "[green]✓[/]", PartStatus.MISSING: "[dim]○[/]"}


def check(course: Course, name: str) -> int:
    """Runs the lab.py of lab `name` (or of the folder one is in) on this machine, without a box: it is one's own code.
    Returns the exit code: 0 when every task passes, 1 otherwise.
    """
    try:
        from autograder.engine.lab import grade_lab
    except ImportError as error:
        raise ContentError("the labs need torch: pip install 'shardlab[labs]'") from error
    lab, lab_py = find(course, name, Path.cwd())
    console = Console(highlight=False)
    console.print(f"[bold]{escape(lab.title)}[/]  {escape(str(lab_py))}")
    with console.status("running on real ranks"):
        verdict = grade_lab(course, lab, "you", lab_py, sandboxed=False, run="check")
    return _tell(console, course, lab, verdict)


def hint(course: Course, name: str, step: int) -> str:
    """Hint number `step` (from 1) of the task `name`, and how to get the next. Raises ContentError."""
    tasks = {task.id: task for lab in course.labs.values() for task in lab.tasks}
    if name not in tasks:
        raise ContentError(f"no task {name!r}; there are {', '.join(tasks)}")
    hints = tasks[name].hints
    if not 1 <= step <= len(hints):
        raise ContentError(f"{name} has hints 1 to {len(hints)}")
    more = f"\n\nNext: shardlab hint {name} {step + 1}" if step < len(hints) else ""
    return f"Hint {step} of {len(hints)}: {hints[step - 1].strip()}{more}"


def find(course: Course, name: str, here: Path) -> tuple[Lab, Path]:
    """The lab and its lab.py: `name` is a lab, its assignment, a folder or a lab.py; empty: the folder `here`, or the
    only lab below it. Raises ContentError saying what was looked for where.
    """
    by_name = {key: lab for lab in course.labs.values() for key in (lab.name, lab.assignment)}
    path = Path(name) if name and name not in by_name else None
    if path is not None:
        folder = path.parent if path.name == "lab.py" else path
        lab = by_name.get((here / folder).resolve().name)
        if lab is None:
            raise ContentError(f"no lab {name!r}; there are {', '.join(course.labs)}")
        return lab, _there((here / folder).resolve() / "lab.py")
    if name:
        lab = by_name[name]
        for folder in (here, here / lab.assignment, here / lab.name, here.parent / lab.assignment):
            if folder.name in (lab.name, lab.assignment) and (folder / "lab.py").is_file():
                return lab, folder / "lab.py"
        raise ContentError(
            f"no lab.py of {lab.name} in {here} or {lab.assignment}/ below it; see `shardlab start`"
        )
    if (lab := by_name.get(here.name)) is not None:
        return lab, _there(here / "lab.py")
    below = [
        folder
        for folder in sorted(here.iterdir())
        if folder.name in by_name and (folder / "lab.py").is_file()
    ]
    if len(below) != 1:
        raise ContentError(f"name a lab: {', '.join(course.labs)}")
    return by_name[below[0].name], below[0] / "lab.py"


def _there(path: Path) -> Path:
    if not path.is_file():
        raise ContentError(f"{path}: there is no such file")
    return path


def _tell(console: Console, course: Course, lab: Lab, verdict: Verdict) -> int:
    parts = {part.id: part for part in verdict.parts}
    if not parts:
        console.print(f"[red]{verdict.status}[/] {escape(verdict.reason)}")
        return 1
    for task in lab.tasks:
        _task(console, course, lab, task, parts[task.id])
    passed = sum(part.status is PartStatus.PASSED for part in verdict.parts)
    console.print(
        f"{passed} of {len(lab.tasks)} tasks pass, {verdict.score or 0:g} of {verdict.max_score:g} points"
    )
    return 0 if passed == len(lab.tasks) else 1


def _task(console: Console, course: Course, lab: Lab, task: Task, part: Part) -> None:
    sign = _SIGN.get(part.status, "[red]✗[/]")
    console.print(
        f"{sign} [bold]{task.id}[/]  {part.status}, {part.score or 0:g} of {part.max_score:g} points"
    )
    if part.status is PartStatus.PASSED:
        return
    if part.status is PartStatus.MISSING:
        console.print(_indented("not written yet"))
    elif part.reason:
        console.print(_indented(part.reason))
    if part.misconception in lab.mistakes:
        mistake = lab.mistakes[part.misconception]
        console.print(_indented(f"{mistake.what.strip()}: {mistake.why.strip()}"))
    elif part.misconception in course.misconceptions:
        belief = course.misconceptions[part.misconception]
        console.print(_indented(f"“{belief.name}”. {belief.refutation.strip()}"))
    for rank, text in sorted(part.evidence.get("printed", {}).items()):
        console.print(_indented(f"rank {rank} printed:\n{text.rstrip()}"), style="dim")
    console.print(_indented(f"shardlab hint {task.id}"), style="dim")


def _indented(text: str) -> Padding:
    return Padding(Text(text), (0, 0, 0, 4))
