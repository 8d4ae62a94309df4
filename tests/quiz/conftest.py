"""What the tests of exports share."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.content import Course
from autograder.quiz.export.flat import Flat, bank

CACHE = Path(__file__).resolve().parents[2] / ".cache"
"""Where `.ci/run` puts what other systems parse with. Nothing of it is committed."""


SHOTS = os.environ.get("SHARDLAB_SHOTS")
"""A folder for screenshots, to look at."""


def needed(what: str, how: str) -> None:
    """Skips the test for lack of `what`; in CI, which installs it, that is a failure."""
    why = f"{what} is not here: {how}"
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="session")
def questions(course: Course) -> list[Flat]:
    """Every question of the bank, as the exports see it."""
    found = bank(course.items)
    assert len(found) > 200
    return found


@pytest.fixture(scope="session")
def gift_pegjs() -> Path:
    """The folder with node_modules/gift-pegjs."""
    if not shutil.which("node"):
        needed("node", "apt-get install nodejs npm")
    for folder in (CACHE / "npm", Path(os.environ.get("SHARDLAB_NPM", "/nonexistent"))):
        if (folder / "node_modules/gift-pegjs").is_dir():
            return folder
    needed("gift-pegjs", "npm install --prefix .cache/npm gift-pegjs@^1")
    raise AssertionError


@pytest.fixture(scope="session")
def qti_dtd() -> Path:
    """The DTD of QTI 1.2.1, out of the sdist of pyslet."""
    found = sorted((CACHE / "qti").rglob("ims_qtiasiv1p2p1.dtd"))
    if not found:
        needed("the DTD of QTI 1.2", "tests/quiz/fetch.sh")
    return found[0]


@pytest.fixture(scope="session")
def chromium() -> str:
    """A Chromium to drive."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        needed("chromium", "apt-get install chromium")
    assert found
    return found


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        needed("playwright", "pip install 'shardlab[quiztest]'")
    with sync_playwright() as playwright:
        made = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield made
        made.close()
