"""The pictures of the walkthrough, drawn from a learner's own numbers, and the sliders that move them."""

from __future__ import annotations

from autograder.learner.walkthrough import degenerate, moment, state
from autograder.learner.walkthrough.model import Model
from autograder.learner.walkthrough.sliders import explore

__all__ = ["Model", "degenerate", "explore", "moment", "state"]
