"""Every error in a content file names file, line and field."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from autograder.tomlfile import ContentError, TomlFile


class _Case(msgspec.Struct, forbid_unknown_fields=True):
    world: int


class _Task(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    points: float
    case: list[_Case] = []


class _File(msgspec.Struct, forbid_unknown_fields=True):
    title: str
    task: list[_Task]


GOOD = '''\
title = "a"

[[task]]
id = "one"
points = 1.0
[[task.case]]
world = 1
[[task.case]]
world = 3

# a comment
[[task]]
id = """
[[task]]
points = "not a header, not a key"
"""
points = 2
[[task.case]]
world = 4
'''


def _file(tmp_path: Path, text: str) -> TomlFile:
    path = tmp_path / "lab.toml"
    path.write_text(text)
    return TomlFile(path)


def test_a_good_file(tmp_path: Path) -> None:
    assert [len(task.case) for task in _file(tmp_path, GOOD).into(_File).task] == [2, 1]


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("world = 3", 'world = "3"', ":9: task[0].case[1].world: "),
        ("points = 2\n", "", ":12: task[1]: "),
        ("points = 2\n", 'points = "2"\n', ":17: task[1].points: "),
        ("world = 4", "wrld = 4", ":18: task[1].case[0]: "),
        ('title = "a"', "title = 1", ":1: title: "),
    ],
)
def test_an_error_names_line_and_field(tmp_path: Path, old: str, new: str, where: str) -> None:
    with pytest.raises(ContentError) as raised:
        _file(tmp_path, GOOD.replace(old, new)).into(_File)
    assert f"lab.toml{where}" in str(raised.value)


def test_broken_toml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match=r"lab\.toml: not TOML: .*line 2"):
        _file(tmp_path, "a = 1\nb = = 2\n")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ContentError, match=r"nothing\.toml: cannot be read"):
        TomlFile(tmp_path / "nothing.toml")
