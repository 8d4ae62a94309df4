"""Whatever lies in a hand-in's folder gives a notebook that can be written, and a reason where there is none."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder.content import Course
from autograder.engine import explanation
from autograder.handin import preflight, repair, source
from autograder.handin.preflight import Prepared
from tests.notebooks import tiny


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return tiny.lay_out(tmp_path_factory.mktemp("course") / "c")


def _known(course: Course) -> source.Source:
    return source.read(course.assignment("level-0").notebook)


def _prepare(course: Course, folder: Path) -> Prepared:
    prepared = preflight.prepare(folder, _known(course))
    nbformat.validate(prepared.notebook)
    ids = [cell["id"] for cell in prepared.notebook.cells]
    assert len(ids) == len(set(ids))
    names = [c.metadata["nbgrader"]["grade_id"] for c in prepared.notebook.cells if "nbgrader" in c.metadata]
    assert sorted(names) == sorted(_known(course).order)
    return prepared


def _changed(course: Course, change: Callable[[dict[str, Any]], object]) -> bytes:
    made = json.loads(json.dumps(tiny.filled(course)))
    change(made)
    return json.dumps(made).encode()


def _cell(notebook: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        c for c in notebook["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") == name
    )
    return found


def _kernelspec(nb: dict[str, Any]) -> None:
    nb["metadata"] = {"kernelspec": {"name": "julia-1.9", "language": "julia", "display_name": "J"}}


def _no_ids(nb: dict[str, Any]) -> None:
    nb["nbformat_minor"] = 4
    for cell in nb["cells"]:
        cell.pop("id", None)


def _same_ids(nb: dict[str, Any]) -> None:
    for cell in nb["cells"]:
        cell["id"] = "same"


def _stray(nb: dict[str, Any]) -> None:
    nb["surprise"] = {"deep": [1]}
    for cell in nb["cells"]:
        cell["metadata"] |= {"tags": ["skip-execution"], "scrolled": "yes"}
        cell["cheese"] = None
        cell["metadata"].setdefault("nbgrader", {})["schema_version"] = 99


def _marks_gone(nb: dict[str, Any]) -> None:
    for cell in nb["cells"]:
        cell["metadata"] = {}


def _lists(nb: dict[str, Any]) -> None:
    for cell in nb["cells"]:
        cell["source"] = cell["source"].splitlines(keepends=True)


def _odd_cells(nb: dict[str, Any]) -> None:
    nb["cells"] += [None, 7, {"cell_type": "video"}, {"cell_type": "code"}, {"cell_type": "raw", "source": 3}]
    nb["cells"][0]["metadata"] = []
    nb["cells"].append(
        {"cell_type": "code", "id": ["x"], "source": "1", "metadata": {"nbgrader": {"grade_id": []}}}
    )


READABLE = {
    "as released": lambda nb: None,
    "another kernel": _kernelspec,
    "no ids": _no_ids,
    "same ids": _same_ids,
    "stray metadata": _stray,
    "marks gone": _marks_gone,
    "lists of lines": _lists,
    "odd cells": _odd_cells,
}


@pytest.mark.parametrize("name", READABLE)
def test_the_answers_are_found(course: Course, tmp_path: Path, name: str) -> None:
    (tmp_path / "level-0.ipynb").write_bytes(_changed(course, READABLE[name]))
    prepared = _prepare(course, tmp_path)
    assert not prepared.problem
    cells = {c["id"]: c for c in prepared.notebook.cells}
    assert cells["ans-0-1"].source == tiny.RIGHT["ans-0-1"]
    assert cells["ex-0-1"].source.startswith("submit(") and "expect" not in cells["ex-0-1"].source
    assert prepared.notebook.metadata.kernelspec.name == "python3"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_are_read(course: Course, tmp_path: Path, encoding: str) -> None:
    text = json.dumps(tiny.filled(course, ans_0_1="size = '112 GB'  # größer 中"), ensure_ascii=False)
    (tmp_path / "level-0.ipynb").write_bytes(text.replace("\n", "\r\n").encode(encoding))
    prepared = _prepare(course, tmp_path)
    assert not prepared.problem and any("größer 中" in c.source for c in prepared.notebook.cells)


def test_an_old_notebook_is_converted(course: Course, tmp_path: Path) -> None:
    old = nbformat.convert(tiny.filled(course), 3)
    (tmp_path / "level-0.ipynb").write_text(json.dumps(old))
    prepared = _prepare(course, tmp_path)
    assert not prepared.problem
    assert any(c.source == tiny.RIGHT["ans-0-2"] for c in prepared.notebook.cells)


UNREADABLE = {
    "empty": b"",
    "blank": b" \n",
    "object": b"{}",
    "list": b"[]",
    "half": b'{"cells": [{"cell_type": "code", "sou',
    "binary": bytes(range(256)),
    "zip": b"PK\x03\x04" + bytes(100),
    "deep": b"[" * 200_000,
    "cells": b'{"cells": {"a": 1}}',
    "old": b'{"worksheets": [7]}',
    "long": json.dumps({"cells": [{"cell_type": "code", "source": "x = 1\n" * 80_000}]}).encode(),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_the_unreadable_has_a_reason(course: Course, tmp_path: Path, name: str) -> None:
    (tmp_path / "level-0.ipynb").write_bytes(UNREADABLE[name])
    prepared = _prepare(course, tmp_path)
    assert prepared.problem and not prepared.absent
    assert "Not graded" in prepared.notebook.cells[0].source


def test_no_file_of_another_kind_is_read(course: Course, tmp_path: Path) -> None:
    path = tmp_path / "level-0.ipynb"
    for make in (
        lambda: path.symlink_to(course.assignment("level-0").notebook),
        lambda: os.mkfifo(path),
        lambda: path.mkdir(),
    ):
        make()
        assert _prepare(course, tmp_path).problem
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()


def test_which_notebook_counts(course: Course, tmp_path: Path) -> None:
    assert _prepare(course, tmp_path).absent
    assert _prepare(course, tmp_path / "never").absent
    (tmp_path / "essay.pdf").write_text("x")
    assert "essay.pdf" in _prepare(course, tmp_path).problem
    content = _changed(course, lambda nb: None)
    (tmp_path / "scratch.ipynb").write_text('{"cells": []}')
    (tmp_path / "level-0-Copy1.ipynb").write_bytes(content)
    prepared = _prepare(course, tmp_path)
    assert not prepared.problem and "level-0-Copy1.ipynb was graded as" in prepared.notes[0]
    (tmp_path / "level-0 (1).ipynb").write_bytes(content)
    assert "several notebooks" in _prepare(course, tmp_path).problem
    (tmp_path / "level-0.ipynb").write_bytes(content)
    prepared = _prepare(course, tmp_path)
    assert not prepared.problem and sum("was ignored" in note for note in prepared.notes) == 3


def test_locked_cells_points_and_kinds_are_ours(course: Course, tmp_path: Path) -> None:
    def change(nb: dict[str, Any]) -> None:
        _cell(nb, "ex-0-1")["source"] = "print('passed')"
        _cell(nb, "ex-0-1")["metadata"]["nbgrader"]["points"] = 400
        _cell(nb, "ans-0-2")["cell_type"] = "markdown"
        _cell(nb, "ro-setup")["source"] = "submit = print"
        nb["cells"].append(
            {
                "cell_type": "code",
                "source": "1",
                "metadata": {"nbgrader": {"grade_id": "bonus", "points": 50}},
            }
        )
        nb["cells"].append(copy.deepcopy(_cell(nb, "ans-0-1")))

    (tmp_path / "level-0.ipynb").write_bytes(_changed(course, change))
    prepared = _prepare(course, tmp_path)
    cells = {c["id"]: c for c in prepared.notebook.cells}
    assert cells["ex-0-1"].source == 'submit("0.1", size=size, area=area)'
    assert cells["ex-0-1"].metadata.nbgrader.points == 4
    assert (
        cells["ans-0-2"].cell_type == "code" and cells["ro-setup"].source == "from autograder import submit"
    )
    said = "\n".join(prepared.notes)
    for words in (
        "ex-0-1 was changed",
        "claimed 400 points",
        "had become a markdown",
        "bonus is none",
        "stood twice",
    ):
        assert words in said
    assert sum(c.source == tiny.RIGHT["ans-0-1"] for c in prepared.notebook.cells) == 2


def test_missing_cells_return_to_their_place(course: Course, tmp_path: Path) -> None:
    names = ("ex-0-1", "ans-0-2", "ex-0-2", "ro-setup")

    def change(nb: dict[str, Any]) -> None:
        nb["cells"] = [
            c for c in nb["cells"] if c["metadata"].get("nbgrader", {}).get("grade_id") not in names
        ]

    (tmp_path / "level-0.ipynb").write_bytes(_changed(course, change))
    prepared = _prepare(course, tmp_path)
    order = [c.metadata.nbgrader.grade_id for c in prepared.notebook.cells if "nbgrader" in c.metadata]
    assert order == _known(course).order
    assert next(c for c in prepared.notebook.cells if c["id"] == "ans-0-2").source == "pick = ..."


def test_files_beside_the_notebook(tmp_path: Path) -> None:
    folder, target = tmp_path / "in", tmp_path / "out"
    (folder / "data").mkdir(parents=True)
    for name in ("helper.py", "data/x.csv", "instant.json", "other.ipynb", ".hidden", "timestamp.txt"):
        (folder / name).write_text("x")
    (folder / "out.txt").symlink_to("/etc/passwd")
    target.mkdir()
    notes = preflight.copy_files(folder, target)
    copied = sorted(str(p.relative_to(target)) for p in target.rglob("*") if p.is_file())
    assert copied == ["data/x.csv", "helper.py"]
    assert len(notes) == 1 and "out.txt" in notes[0]


def test_folders_nested_without_end_are_left_out_and_told(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    folder, target = tmp_path / "in", tmp_path / "out"
    tiny.nest(folder, request)
    (folder / "deep/deep/x.csv").write_text("x")
    (folder / "z.csv").write_text("x")
    notes = preflight.copy_files(folder, target)
    copied = sorted(str(p.relative_to(target)) for p in target.rglob("*") if p.is_file())
    assert copied == ["deep/deep/x.csv", "z.csv"]
    assert len(notes) == 1 and notes[0].endswith("nested too deep")


def test_files_without_end_are_left_out_and_told_in_few_words(tmp_path: Path) -> None:
    folder, target = tmp_path / "in", tmp_path / "out"
    (folder / "many").mkdir(parents=True)
    for number in range(preflight.FILES_MOST + 100):
        (folder / "many" / f"{number:04}").touch()
    notes = preflight.copy_files(folder, target)
    assert len(list((target / "many").iterdir())) == preflight.FILES_MOST
    assert len(notes) == preflight.NOTES_MOST + 1 and notes[-1].startswith("50 more")
    for number in range(preflight.LOOKED_MOST):
        (folder / f"{number:05}").touch()
    assert len(preflight.copy_files(folder, tmp_path / "none")) == 1 and not (tmp_path / "none").exists()


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["cell_type", "source", "metadata", "nbgrader", "grade_id", "id", "points", "attachments"]
            ),
            inner | st.sampled_from(["code", "markdown", "ex-0-1", "ans-0-1", "essay-0-3"]),
            max_size=6,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(cells=st.lists(_json, max_size=5))
def test_no_json_breaks_the_repair(cells: list[Any]) -> None:
    known = source.read(tiny.template() / "solutions/exercises/level-0/level-0.ipynb")
    notebook, _ = repair.canonical({"cells": cells}, known)
    nbformat.validate(notebook)
    nbformat.writes(notebook).encode()


def test_a_raw_cell_is_shown_and_not_rendered(course: Course, tmp_path: Path) -> None:
    def change(nb: dict[str, Any]) -> None:
        nb["cells"].insert(0, {"cell_type": "raw", "source": "<script>1</script>", "metadata": {}})

    (tmp_path / "level-0.ipynb").write_bytes(_changed(course, change))
    first = _prepare(course, tmp_path).notebook.cells[0]
    assert (first.cell_type, first.source) == ("markdown", "<pre>&lt;script&gt;1&lt;/script&gt;</pre>")


def test_another_picture_is_another_explanation(course: Course) -> None:
    marked = _known(course).cells["essay-0-3"]
    cell = marked.cell()
    cell.source = "![](a.png)"
    answers = []
    for picture in ("", "AAAA", "BBBB"):
        cell["attachments"] = {"a.png": {"image/png": picture}} if picture else {}
        answers.append(explanation.judge(marked, cell).answer)
    assert len(set(answers)) == 3
