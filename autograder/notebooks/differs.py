"""Whether nbgrader's gradebook holds the cells of the course's own notebook."""

from __future__ import annotations

from nbgrader.api import Gradebook, MissingEntry

from autograder.handin.source import Source


def other_cells(gradebook: Gradebook, assignment: str, known: Source) -> list[str]:
    """The grade ids that only one of gradebook and course has, or that are of another kind there; none where the
    gradebook does not know the notebook.
    """
    try:
        notebook = gradebook.find_notebook(known.name, assignment)
    except MissingEntry:
        return []
    kinds = {name: cell.kind for name, cell in known.cells.items()}
    ours = (
        set(kinds),
        {name for name, kind in kinds.items() if kind in ("check", "task", "essay")},
        {name for name, kind in kinds.items() if kind in ("answer", "essay")},
    )
    theirs = (notebook.source_cells, notebook.grade_cells, notebook.solution_cells)
    pairs = zip(ours, theirs, strict=True)
    return sorted(set().union(*(mine ^ {cell.name for cell in cells} for mine, cells in pairs)))


def difference(gradebook: Gradebook, assignment: str, known: Source) -> str:
    """What differs first, and what to run; empty when nothing does. Compared: which cells there are, the texts of
    locked and graded cells with their hidden regions, and the points.
    """
    fix = f"run `nbgrader generate_assignment {assignment} --force`"
    try:
        notebook = gradebook.find_notebook(known.name, assignment)
    except MissingEntry:
        return f"the gradebook does not know {assignment}: {fix}"
    entered = {cell.name: cell for cell in notebook.source_cells}
    points = {cell.name: cell.max_score for cell in notebook.grade_cells}
    for name in sorted(set(entered) ^ set(known.cells)):
        where = "the gradebook" if name in entered else "the course"
        return f"cell {name} of {assignment} is only in {where}: {fix}"
    for name, cell in known.cells.items():
        if cell.kind in ("check", "task", "locked") and entered[name].source != cell.node.source:
            return f"cell {name} of {assignment} was changed in the course after it was generated: {fix}"
        if cell.kind in ("check", "task", "essay") and points.get(name) != cell.points:
            return f"cell {name} of {assignment} has {points.get(name)} points in the gradebook: {fix}"
    return ""
