"""`shardlab extend`: gives a learner longer for an assignment, whether or not something is handed in yet."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from autograder.content import Course
from autograder.notebooks import extensions, gradebook


def run(course: Course, learner: str, assignment: str, length: str) -> int:
    """Enters the extension and says what it means now. Raises ContentError."""
    more = extensions.length(length)
    extensions.grant(course, learner, assignment, more)
    console = Console(highlight=False)
    told = (
        f"{learner} has {length} more for {assignment}"
        if more
        else f"{learner} has no extension for {assignment}"
    )
    console.print(escape(told), soft_wrap=True)
    if not (course.root / "gradebook.db").exists():
        return 0
    with gradebook.gradebook(course.root) as book:
        if not extensions.has_due_date(book, assignment):
            console.print(
                f"[yellow]note[/] {assignment} has no due date yet: set one in formgrader (Manage Assignments), "
                "and the extension counts from it",
                soft_wrap=True,
            )
        if extensions.enter(book, course.root, learner, assignment):
            again = f"shardlab grade --student {learner} --assignment {assignment}"
            console.print(
                f"it is handed in already: {escape(again)} works out the penalty anew", soft_wrap=True
            )
    return 0
