"""The build: same bytes twice, no answer in what learners get, no hand edit lost, no wrong source accepted."""

from __future__ import annotations

import json
import re
from pathlib import Path

import nbformat
import pytest

from autograder import course as courses
from autograder.build import source, write
from autograder.build.outputs import outputs
from autograder.content import Course
from autograder.tomlfile import ContentError

# sealing the instant answers is slow on purpose: a minute on two idle cores
pytestmark = pytest.mark.timeout(600)

CANARY = "kestrel-over-marsh-41867"


@pytest.fixture(scope="session")
def made(course: Course) -> dict[str, bytes]:
    return outputs(course)


def test_what_is_committed_is_what_is_built(course: Course, made: dict[str, bytes]) -> None:
    assert write.check(course.root, made) == []


def test_building_twice_gives_the_same_bytes(course: Course) -> None:
    assert outputs(course, cost=2) == outputs(course, cost=2)


def test_every_assignment_is_built_and_released(course: Course, made: dict[str, bytes]) -> None:
    for assignment in course.assignments:
        name = assignment.name
        assert f"solutions/exercises/{name}/{name}.ipynb" in made
        assert f"exercises/{name}/{name}.ipynb" in made
        beside = "lab.py" if assignment.kind == "lab" else "instant.json"
        assert made[f"exercises/{name}/{beside}"] == made[f"solutions/exercises/{name}/{beside}"]


def _what_learners_get(made: dict[str, bytes]) -> dict[str, str]:
    return {p: b.decode() for p, b in made.items() if p.startswith(("exercises/", "gpu_labs/"))}


def test_no_marker_and_no_key_in_what_learners_get(made: dict[str, bytes]) -> None:
    shown = _what_learners_get(made)
    assert shown
    for path, text in shown.items():
        for word in ("BEGIN SOLUTION", "END SOLUTION", "HIDDEN TESTS", "MARK SCHEME", "expect.", "budget."):
            assert word not in text, f"{path} holds {word!r}"


def test_a_planted_answer_is_nowhere_in_what_learners_get(content: Path) -> None:
    planted = 0
    for path in [
        *content.glob("solutions/notebooks/*.py"),
        *content.glob("solutions/gpu_labs/*/solution.py"),
    ]:
        text = path.read_text(encoding="utf-8")
        text, inside = re.subn(r"(?m)^( +)### BEGIN SOLUTION$", rf"\g<0>\n\1hidden = '{CANARY}'", text)
        text, hidden = re.subn(r"(?m)^### BEGIN HIDDEN TESTS$", rf"\g<0>\nkey_ = '{CANARY}'", text)
        text, essays = re.subn(r"(?m)^(# %% \[markdown\] essay=.*)$", rf"\1\n# {CANARY}", text)
        planted += inside + hidden + essays
        path.write_text(text, encoding="utf-8")
    bank = content / "quizbank/sharding-basics.toml"
    text, marked = re.subn(
        r'(?m)^(explanation|refutation) = "', rf"\g<0>{CANARY} ", bank.read_text(encoding="utf-8")
    )
    bank.write_text(text, encoding="utf-8")
    assert planted > 10 and marked > 10
    made = outputs(courses.load(content), cost=2)
    assert any(CANARY.encode() in text for text in made.values()), "the canary was not built at all"
    for path, shown in _what_learners_get(made).items():
        assert CANARY not in shown, f"{path} gives the answer away"


@pytest.mark.parametrize("kind", ["ipynb", "instant.json", "lab.py", "solutions/exercises"])
def test_a_changed_byte_is_found(content: Path, made: dict[str, bytes], kind: str) -> None:
    path = next(path for path in sorted(made) if kind in path)
    spoilt = bytearray(made[path])
    spoilt[len(spoilt) // 2] ^= 1
    (content / path).write_bytes(spoilt)
    assert [line for line in write.check(content, made) if line.startswith(path)]


def test_a_missing_and_a_stray_file_are_found(content: Path, made: dict[str, bytes]) -> None:
    (content / "exercises/level-1/level-1.ipynb").unlink()
    (content / "exercises/level-1/answers.txt").write_text("112 GB")
    said = "\n".join(write.check(content, made))
    assert "exercises/level-1/level-1.ipynb: missing" in said
    assert "exercises/level-1/answers.txt: not built by anything" in said
    with pytest.raises(ContentError, match=r"answers\.txt"):
        write.build(content, made)


def test_a_hand_edit_is_never_overwritten_silently(content: Path, made: dict[str, bytes]) -> None:
    edited = content / "exercises/level-1/level-1.ipynb"
    edited.write_bytes(edited.read_bytes().replace(b"Level 1", b"Level One"))
    before = edited.read_bytes()
    with pytest.raises(ContentError, match="edited by hand"):
        write.build(content, made)
    assert edited.read_bytes() == before
    assert write.build(content, made, force=True) == ["exercises/level-1/level-1.ipynb"]
    assert write.check(content, made) == []
    assert write.build(content, made) == []


def test_what_is_built_no_more_is_removed(content: Path, made: dict[str, bytes]) -> None:
    fewer = {path: text for path, text in made.items() if "level-2" not in path}
    gone = write.build(content, fewer)
    assert gone and all("level-2" in path for path in gone)
    assert write.check(content, fewer) == []


def test_cells_of_a_release_are_valid_and_graded_once(course: Course, made: dict[str, bytes]) -> None:
    for assignment in course.assignments:
        notebook = nbformat.reads(made[f"exercises/{assignment.name}/{assignment.name}.ipynb"].decode(), 4)
        nbformat.validate(notebook)
        ids = [c.metadata.nbgrader.grade_id for c in notebook.cells if "nbgrader" in c.metadata]
        assert len(ids) == len(set(ids)) > 1
        assert "path" not in json.dumps(notebook.metadata)


HEADER = '# ---\n# title: "T"\n# ---\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("# %%\nx = 1\n", r"a\.py:1: the file starts with a header"),
        (HEADER + '# %% ansver="2.1"\nx = 1\n', r"a\.py:4: unknown cell option ansver"),
        (HEADER + '# %%\nx = 1\n\n# %% check="2.1"\nsubmit("2.1")\n', r"a\.py:7: check 2\.1 needs points"),
        (HEADER + '# %% check="2.1" points=0\nsubmit("2.1")\n', r"a\.py:4: check 2\.1 needs points"),
        (HEADER + '# %% answer="2.1"\nx = 1\n', r"a\.py:4: answer 2\.1 holds no"),
        (HEADER + '# %% answer="2.1" check="2.1" points=1\nx = 1\n', r"a\.py:4: a cell is one of"),
        (HEADER + '# %% [markdown] check="2.1" points=1\n# x\n', r"a\.py:4: check goes with a code cell"),
        (HEADER + '# %% locked="a b"\nx = 1\n', r"a\.py:4: locked: 'a b' is no id"),
        (HEADER + '# %% locked="a"\nx = 1\n# %% locked="a"\ny = 1\n', "two cells have the grade id"),
        (HEADER + "# %% points=3\nx = 1\n", r"a\.py:4: points go with"),
    ],
)
def test_a_wrong_source_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "a.py"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ContentError, match=said):
        source.read(path)
