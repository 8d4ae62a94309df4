"""Makes what a learner gets of a lab: the stub `lab.py`, and the short notebook it is handed in with."""

from __future__ import annotations

from nbformat import NotebookNode

from autograder import stub
from autograder.build.source import assemble, code, markdown, metadata
from autograder.content import Lab
from autograder.tomlfile import ContentError

_HEAD = """\
# {title}

{summary}

You write the functions in **`lab.py`**, which lies beside this notebook; hand in both.
The lab's README tells the story, the maths and the contract.

Try your code on real ranks at any time, in a terminal:

```
shardlab check {name}
```

The cells below hold the marks: the judge runs your `lab.py` outside this notebook and fills them in.
"""


def lab_py(lab: Lab) -> str:
    """The text of gpu_labs/<lab>/lab.py: the solution with every region stubbed. Raises ContentError."""
    path = lab.solution / "solution.py"
    try:
        text = stub.strip(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ContentError(f"{path}: {error}") from error
    return text


def notebook(lab: Lab) -> NotebookNode:
    """The instructor notebook of a lab: one locked grade cell a task, one hand-graded explanation."""
    head = _HEAD.format(title=lab.title, summary=lab.summary.strip(), name=lab.name)
    cells = [markdown(head.rstrip())]
    for task in lab.tasks:
        source = f"# {task.title}: {task.points:g} points, filled in by the judge"
        cells.append(code(source, **task_metadata(task.id, task.points)))
    if lab.explain:
        cells.append(markdown(f"## In your own words\n\n{lab.explain.strip()}"))
        cells.append(markdown("YOUR ANSWER HERE", **metadata("essay", "explain", lab.explain_points)))
    return assemble(cells, lab.assignment)


def task_metadata(task: str, points: float) -> dict[str, object]:
    """nbgrader's metadata of the locked grade cell of a task: grade id `task-<task id>`."""
    return {**metadata("check", task, points), "grade_id": f"task-{task}"}
