"""Figures that nothing can compute."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stated:
    """What an exercise gives, what a claim that is refuted says, a definition."""

    why: str
