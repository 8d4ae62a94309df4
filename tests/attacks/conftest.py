"""One run of all chosen hostile hand-ins for each user; soak variants only where they are asked for (`-m soak`)."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from tests.attacks import harness
from tests.attacks.handins import HandIn
from tests.attacks.harness import Batch

USERS = {"root": 0, "nobody": harness.NOBODY} if os.getuid() == 0 else {"oneself": os.getuid()}
"""As whom the hand-ins are graded: a grader is root in one place and an ordinary user in another."""

Runs = Callable[[str], Batch]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "soak" in config.option.markexpr:
        return
    heavy = [item for item in items if item.get_closest_marker("soak")]
    if heavy:
        config.hook.pytest_deselected(items=heavy)
        items[:] = [item for item in items if item not in heavy]


@pytest.fixture(scope="session")
def runs(request: pytest.FixtureRequest) -> Runs:
    """runs(user): the hand-ins that the chosen tests are about, graded once as that user."""
    done: dict[str, Batch] = {}

    def run(user: str) -> Batch:
        if user not in done:
            chosen: dict[str, HandIn] = {}
            for item in request.session.items:
                given = (
                    item.callspec.params
                    if isinstance(item, pytest.Function) and hasattr(item, "callspec")
                    else {}
                )
                if given.get("user") == user and "handin" in given:
                    chosen[given["handin"].name] = given["handin"]
            done[user] = harness.run(list(chosen.values()), USERS[user])
        return done[user]

    return run
