"""Makes a quiz notebook of items of the bank: what is asked, the learner's cell, the locked check."""

from __future__ import annotations

from nbformat import NotebookNode

from autograder.build.source import assemble, code, markdown, metadata
from autograder.content import Assignment, Course, Item

LETTERS = "abcdefgh"

_HEAD = """\
# {title}

{count} statements, each in two steps: is it **true or false**, and **because** of what?
Fill in both, run the cell, then run the check below it. An answer looks like this:

```python
q000 = answer(claim=True, because="b")
```

Half the points are for the claim, half for the right reason; the reason counts only with the right claim.
"""


def notebook(course: Course, assignment: Assignment) -> NotebookNode:
    """The instructor notebook of a quiz: one prose cell, one answer cell and one check cell an item."""
    assert assignment.quiz is not None
    items = [course.items[name] for name in assignment.items]
    head = _HEAD.format(title=assignment.title, count=len(items))
    cells = [
        markdown(head.rstrip()),
        code("from autograder import answer, submit", **metadata("locked", "setup")),
    ]
    for number, item in enumerate(items, 1):
        cells += _cells(number, item, assignment.quiz.points)
    return assemble(cells, assignment.name)


def _cells(number: int, item: Item, points: float) -> list[NotebookNode]:
    right = LETTERS[[reason.right for reason in item.reasons].index(True)]
    reasons = "\n".join(f"- **{letter}**: {reason.text}" for letter, reason in zip(LETTERS, item.reasons))  # noqa: B905
    regime = "" if item.regime in ("", "any") else f"\n\n*Precision: {item.regime}.*"
    asked = f"## Statement {number}\n\n> {item.statement.strip()}{regime}\n\nBecause …\n\n{reasons}"
    answered = (
        f'### BEGIN SOLUTION\n{item.id} = answer(claim={item.key}, because="{right}")\n### END SOLUTION'
    )
    check = (
        f'submit("{item.id}", {item.id}={item.id})\n'
        f'### BEGIN HIDDEN TESTS\nexpect.item("{item.id}")\n### END HIDDEN TESTS'
    )
    return [
        markdown(asked),
        code(answered, **metadata("answer", item.id)),
        code(check, **metadata("check", item.id, points)),
    ]
