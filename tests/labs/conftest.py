"""One hand-in's box for all scenarios of a file; torch is imported once, in the zygote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from lab_ranks import Run, greetings

from autograder.judge.switch import Rules
from autograder.sandbox.ranks import Ran, RankBox

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def box() -> Iterator[RankBox]:
    with RankBox(HERE / "scenario_run.py", HERE / "scenarios.py") as made:
        yield made


@pytest.fixture
def run(box: RankBox) -> Run:
    """run(scenario, world, inputs=None, rules=Rules(), seconds=30, …) runs a function of scenarios.py on ranks."""

    def go(
        task: str,
        world: int,
        inputs: list[dict[str, Any]] | None = None,
        rules: Rules = Rules(),  # noqa: B008 (frozen)
        seconds: float = 30.0,
        **more: Any,
    ) -> Ran:
        return box.run(greetings(task, world, inputs, **more), rules, seconds)

    return go
