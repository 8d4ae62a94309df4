"""The spool gives back what was put, or nothing."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from autograder.engine.job import Job, Needs
from autograder.engine.spool import Spool
from autograder.verdict import PartStatus, Status, Verdict, unscored

JOB = Job("0a", "ö", "level-0", "/nowhere", "d", Needs(), True, "r", "/course")
PART = unscored("0.1/x", PartStatus.PENDING, 2.0, "waits", evidence={"seed": 1, "drawn": [1.5, None]})
VERDICT = Verdict(
    student="ö", assignment="level-0", status=Status.GRADED, score=None, max_score=2, parts=(PART,)
)
NOTEBOOK = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("print('∇')", id="a")])


def test_it_gives_back_what_was_put(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool")
    assert spool.take(JOB) is None
    spool.put(JOB, VERDICT, NOTEBOOK)
    assert spool.take(JOB) == (VERDICT, NOTEBOOK)
    found = Spool(tmp_path / "spool").take(JOB)
    assert found is not None and found[1].cells[0].source == "print('∇')"
    spool.drop(JOB)
    spool.drop(JOB)
    assert spool.take(JOB) is None and not list(spool.folder.iterdir())


def test_every_cut_of_a_file_is_no_result(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    whole = spool.put(JOB, VERDICT, NOTEBOOK).read_bytes()
    for length in range(0, len(whole), 7):
        spool.path(JOB).write_bytes(whole[:length])
        assert spool.take(JOB) is None
    spool.path(JOB).write_bytes(b"\0" * len(whole))
    assert spool.take(JOB) is None
    spool.path(JOB).write_bytes(whole.replace(b'"id":"0a"', b'"id":"0b"'))
    assert spool.take(JOB) is None, "another job's result"


def test_a_writer_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spool = Spool(tmp_path)
    spool.put(JOB, VERDICT, NOTEBOOK)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        spool.put(JOB, VERDICT, nbformat.v4.new_notebook())
    assert spool.take(JOB) == (VERDICT, NOTEBOOK)
    assert [path.name for path in tmp_path.iterdir()] == ["0a.json"]


def test_halves_of_killed_writers_are_taken_away(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.put(JOB, VERDICT, NOTEBOOK)
    (tmp_path / ".0b.77.half").write_bytes(b"{")
    spool.clean()
    assert [path.name for path in tmp_path.iterdir()] == ["0a.json"]
