"""The stub rule: unsolved looks unsolved, and nothing of the answer is left."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.stub import BEGIN, END, strip


def test_a_function_body_becomes_not_implemented() -> None:
    text = f"def f(P, N):\n    '''doc'''\n    {BEGIN}\n    if N:\n        return 16 * P / N\n    {END}\n"
    assert strip(text) == "def f(P, N):\n    '''doc'''\n    raise NotImplementedError()\n"


def test_names_at_top_level_become_dots_and_keep_their_comment() -> None:
    text = f'{BEGIN}\nhelper = 16\ndp = "112 GB"  # with its unit, e.g. "3 GB"\n{END}\nlast = 1'
    assert strip(text) == 'helper = ...\ndp = ...  # with its unit, e.g. "3 GB"\nlast = 1'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"{BEGIN}\nx = 1\n", "line 1"),
        (f"x = 1\n{END}\n", "line 2"),
        (f"{BEGIN}\n{BEGIN}\n{END}\n", "line 2"),
        (f"{BEGIN}\nprint(1)\n{END}\n", "assigns no name"),
    ],
)
def test_a_wrong_region_names_its_line(text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        strip(text)


@given(st.lists(st.sampled_from(["x = 1", "", "# note", "def f():", "    return 2", "y = [1,"]), max_size=8))
def test_text_without_regions_is_left_alone(lines: list[str]) -> None:
    assert strip("\n".join(lines)) == "\n".join(lines)


@given(st.text("abcdefgh0123456789", min_size=6, max_size=12))
def test_no_answer_survives(secret: str) -> None:
    text = f'a = 1\n{BEGIN}\nvalue = "{secret}"\n{END}\ndef f():\n    {BEGIN}\n    return "{secret}"\n    {END}\n'
    assert secret not in strip(text)
