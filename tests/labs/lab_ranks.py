"""Helpers of the switch's tests: first frames, outputs, equality of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from autograder.judge.lab import pack, unpack
from autograder.sandbox.ranks import Greeting, Ran

Run = Callable[..., Ran]


def greetings(task: str, world: int, inputs: list[dict[str, Any]] | None, **more: Any) -> list[Greeting]:
    made = []
    for rank in range(world):
        head, payload = pack(inputs[rank] if inputs else {})
        place = {"op": "start", "task": task, "rank": rank, "world": world, "memory": 0, "groups": {}}
        made.append(Greeting({**place, **head, **more}, payload))
    return made


def outputs(ran: Ran) -> list[dict[str, Any]]:
    """What the ranks returned; fails with their words when one did not get that far."""
    bad = [f"rank {r}: {e.how}: {e.text}" for r, e in enumerate(ran.outcome.ends) if e.how != "done"]
    assert not bad, "\n".join([*bad, ran.outcome.text, ran.outcome.picture, *ran.printed])
    found = [unpack(end) for end in ran.outcome.ends]
    assert all(isinstance(one, dict) for one in found)
    return found  # type: ignore[return-value]


def equal(a: torch.Tensor, b: torch.Tensor) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and torch.equal(a, b)
