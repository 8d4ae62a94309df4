"""What a notebook imports. Everything else lives in the rooms below and is imported by its own name."""

from autograder.learner.ask import ask
from autograder.learner.client import answer, submit

__all__ = ["answer", "ask", "submit"]
