"""The switch: the only network the ranks of a lab have. It carries out every call outside their processes, and what it
saw is the trace a lab is judged by."""

from autograder.judge.switch.core import Switch
from autograder.judge.switch.messages import End
from autograder.judge.switch.outcome import Outcome, Rules
from autograder.judge.switch.trace import Call, Mark, Trace

__all__ = ["Call", "End", "Mark", "Outcome", "Rules", "Switch", "Trace"]
