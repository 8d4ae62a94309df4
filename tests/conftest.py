"""Fixtures every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder import course as courses
from autograder.content import Course

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout under test."""
    return ROOT


@pytest.fixture(scope="session")
def course() -> Course:
    """The course of the checkout under test."""
    return courses.load(ROOT)
