"""No score outlives the hand-in it was given for."""

from __future__ import annotations

from nbgrader.api import Gradebook, MissingEntry


def reopen(gradebook: Gradebook, assignment: str, student: str, *, by_hand: bool = True) -> bool:
    """Takes every automatic score of this submission out of the gradebook: until a new verdict is entered its cells
    wait for a person, those graded by hand only with `by_hand`. Hand grades stay entered. Returns whether there was
    such a submission.
    """
    try:
        submission = gradebook.find_submission(assignment, student)
    except MissingEntry:
        return False
    for notebook in submission.notebooks:
        for grade in notebook.grades:
            grade.auto_score = None
            if by_hand or grade.manual_score is None:
                grade.needs_manual_grade = True
    gradebook.db.commit()
    return True
