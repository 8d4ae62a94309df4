"""The one error of the switch: a rank said something that is no proper message."""


class Fault(Exception):
    """What a rank did wrong, in words for its author. It ends that rank, never the grading."""
