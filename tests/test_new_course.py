"""A private course: its own seed and graded questions, built and whole, or not there at all."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path

import nbformat
import pytest

from autograder import course as courses
from autograder import newcourse
from autograder.build import write
from autograder.content import Course
from autograder.quiz import draw
from autograder.tomlfile import ContentError

ROOT = Path(__file__).parents[1]
NOTEBOOK = """\
# ---
# title: "Level 1"
# level: 1
# ---
# %% locked="setup"
from autograder import submit

# %% answer="1.1"
### BEGIN SOLUTION
state = "112 GB"
### END SOLUTION

# %% check="1.1" points=1
submit("1.1", state=state)
### BEGIN HIDDEN TESTS
expect.quantity("state", "112 GB")
### END HIDDEN TESTS
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A checkout with one short notebook and the whole bank: sealing instant answers is what takes long."""
    root = tmp_path_factory.mktemp("checkout") / "small"
    shutil.copytree(ROOT / "quizbank", root / "quizbank")
    (root / "solutions/notebooks").mkdir(parents=True)
    (root / "solutions/notebooks/level-1.py").write_text(NOTEBOOK)
    (root / "course.toml").write_text('title = "Small"\n')
    return courses.load(root)


@pytest.fixture(scope="module")
def private(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("instructor") / "mine"
    newcourse.new(course, folder, items=6, title='Sharding "26"')
    return folder


def test_it_is_a_course_with_graded_questions_of_its_own(course: Course, private: Path) -> None:
    made = courses.load(private)
    assert made.title == 'Sharding "26"'
    assert {a.name for a in made.assignments} == {a.name for a in course.assignments} | {"exam"}
    graded = [item for item in made.items.values() if item.use == "graded"]
    assert len(graded) == 6 and not set(course.items) & {item.id for item in graded}
    exam = made.assignment("exam")
    assert set(exam.items) == {item.id for item in graded}
    # what is released says nothing, and has no key
    released = nbformat.read(exam.release / "exam.ipynb", as_version=4)
    text = "\n".join(cell.source for cell in released.cells)
    assert "HIDDEN TESTS" not in text and "expect." not in text
    instant = (exam.release / "instant.json").read_text() if (exam.release / "instant.json").exists() else ""
    assert '"table"' not in instant


def test_the_seed_is_secret_and_what_was_drawn_comes_from_it(course: Course, private: Path) -> None:
    seed = private / newcourse.SEED
    assert stat.S_IMODE(seed.stat().st_mode) == 0o600
    assert newcourse.SEED in (private / ".gitignore").read_text().splitlines()
    value = bytes.fromhex(seed.read_text().strip())
    drawn = draw.graded(course.items, value, 6)
    made = courses.load(private)
    assert {item.id for item in drawn} == {item.id for item in made.items.values() if item.use == "graded"}
    for path in (private / "exercises").rglob("*"):
        assert not path.is_file() or seed.read_text().strip() not in path.read_text(errors="replace")


def test_what_does_not_fit_is_told_and_leaves_nothing(
    course: Course, private: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ContentError, match="is not empty"):
        newcourse.new(course, private)
    with pytest.raises(ContentError, match="inside the checkout"):
        newcourse.new(course, course.root / "mine")
    with monkeypatch.context() as few, pytest.raises(ContentError, match=r"make 3; .* \(--items\)"):
        few.setattr(draw, "graded", _too_few)
        newcourse.new(course, tmp_path / "too-many", items=9)
    assert not list(tmp_path.iterdir())

    def breaks(*_: object, **__: object) -> list[str]:
        raise OSError("No space left on device")

    monkeypatch.setattr(write, "build", breaks)
    monkeypatch.setattr(newcourse, "outputs", lambda loaded: {})
    with pytest.raises(OSError, match="No space"):
        newcourse.new(course, tmp_path / "half")
    assert not list(tmp_path.iterdir())


def _too_few(*_: object) -> list[object]:
    raise draw.NothingToDraw("9 items are asked for, the templates make 3; add parameters to them")
