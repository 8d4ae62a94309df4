"""A quiz notebook worked through in JupyterLab in a real browser, by keyboard alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.build.quiz import candidates, right_answer
from autograder.content import Course
from autograder.learner import draw
from autograder.quiz import pose
from quiz.conftest import SHOTS

ACTIVE = "document.querySelector('.jp-Notebook .jp-mod-active').dataset.windowedListIndex"
"""JavaScript: the number of the active cell. Cells out of sight are not in the page, so they cannot be counted."""

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def server(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A JupyterLab of its own on a copy of the released quizzes, stopped at the end."""
    home = tmp_path_factory.mktemp("lab")
    for name in ("quiz-1", "quiz-4"):
        shutil.copytree(course.assignment(name).release, home / "work" / name)
    environment = {
        **os.environ,
        **{f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in ("RUNTIME", "CONFIG", "DATA")},
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
    }
    options = [
        "--no-browser",
        "--allow-root",
        "--ServerApp.port=0",
        "--ServerApp.token=open",
        "--LabApp.news_url=",
    ]
    command = [sys.executable, "-m", "jupyterlab", *options, f"--ServerApp.root_dir={home / 'work'}"]
    with (home / "log").open("w") as log:
        ran = subprocess.Popen(command, stdout=log, stderr=log, env=environment, start_new_session=True)
        try:
            yield _url(home, ran)
        finally:
            ran.terminate()
            try:
                ran.wait(timeout=30)
            except subprocess.TimeoutExpired:
                ran.kill()
                ran.wait()


def _url(home: Path, ran: subprocess.Popen[bytes]) -> str:
    ends = time.monotonic() + 120
    while time.monotonic() < ends:
        for path in home.glob("runtime/jpserver-*.json"):
            try:
                return str(json.loads(path.read_text())["url"])
            except (ValueError, KeyError):
                break  # half-written: read it again
        assert ran.poll() is None, (home / "log").read_text()[-2000:]
        time.sleep(0.2)
    raise AssertionError((home / "log").read_text()[-2000:])


@pytest.fixture
def tab(browser: Any, server: str) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1200, "height": 1000})
    made = context.new_page()
    made.set_default_timeout(90_000)
    yield made
    context.close()


def _open(tab: Any, server: str, name: str) -> None:
    tab.goto(f"{server}lab/tree/{name}/{name}.ipynb?token=open&reset")
    tab.wait_for_selector(".jp-Notebook .jp-Cell")
    ends = time.monotonic() + 90
    while not any(
        session["name"] == f"{name}.ipynb" and session["kernel"]["execution_state"] == "idle"
        for session in tab.request.get(f"{server}api/sessions?token=open").json()
    ):  # what is run before its kernel is there is lost
        assert time.monotonic() < ends, "no kernel came up"
        time.sleep(0.2)
    tab.wait_for_timeout(1000)  # until the page has heard of it, too
    tab.wait_for_function("document.activeElement.closest('.jp-Notebook') !== null")


def _at(tab: Any) -> int:
    return int(tab.evaluate(f"Number({ACTIVE})"))


def _run(tab: Any) -> None:
    """Shift+Enter: runs the cell and goes on to the next, which is then the active one."""
    before = _at(tab)
    tab.keyboard.press("Shift+Enter")
    tab.wait_for_function(
        f"n => Number({ACTIVE}) > n",
        arg=before,
    )


def _write(tab: Any, text: str) -> None:
    tab.keyboard.press("Enter")
    tab.keyboard.press("Control+a")
    tab.keyboard.insert_text(text)


def _output(tab: Any, place: int) -> str:
    cell = tab.locator(f'.jp-Notebook .jp-Cell[data-windowed-list-index="{place}"]')
    cell.locator(".jp-OutputArea-output").first.wait_for()
    return str(cell.locator(".jp-OutputArea").inner_text())


def _shot(tab: Any, name: str) -> None:
    if SHOTS:
        tab.screenshot(path=f"{SHOTS}/{name}.png")


def test_a_fixed_quiz_untouched_wrong_and_right(tab: Any, server: str, course: Course) -> None:
    _open(tab, server, "quiz-1")
    for _ in range(4):  # head, setup, question, untouched answer
        _run(tab)
    _run(tab)
    assert "missing" in _output(tab, 4) and "not answered yet" in _output(tab, 4)
    for answer, said in (
        ('q001 = answer(claim="perhaps", because="b")', "none of the choices: True, False"),
        ('q001 = answer(claim="T", because="a")', "Sharding only moves memory around"),
        (
            'q001 = answer(claim=True, because="Eight copies of the state, one on each GPU, become a single one '
            'cut into eight parts.")',
            "here 8 copies against one",
        ),
    ):
        tab.keyboard.press("Escape")
        while _at(tab) > 3:
            tab.keyboard.press("ArrowUp")
        _write(tab, answer)
        _run(tab)
        _run(tab)
        tab.wait_for_function(
            "said => document.querySelector('[data-windowed-list-index=\"4\"]').innerText.includes(said)",
            arg=said,
        )
        _shot(tab, f"lab-{'T' if 'T' in answer else 'p'}-{len(answer)}")
    assert "wrong" not in _output(tab, 4)


def test_a_drawn_quiz_shows_and_answers_the_learners_own_question(
    tab: Any, server: str, course: Course
) -> None:
    slot = [course.items[name] for name in course.assignment("quiz-4").slots[0]]
    ident, _, face = draw.face("ada", "quiz-4/s1", candidates(slot)).partition("#")
    posed = pose.pose(course.items[ident], int(face))
    filled = ", ".join(f"{name}={value}" for name, value in right_answer(posed).items())
    _open(tab, server, "quiz-4")
    _run(tab)
    _run(tab)
    _write(tab, 'learner = "ada"')
    _run(tab)
    _run(tab)
    _run(tab)
    shown = _output(tab, 4)
    assert posed.choices[0].text.split("$")[0].split("`")[0] in shown
    _write(tab, f"s1 = answer({filled})")
    _run(tab)
    _run(tab)
    said = _output(tab, 6)
    assert said.count("right") >= len(right_answer(posed)) and "wrong" not in said
    _shot(tab, "lab-drawn")
