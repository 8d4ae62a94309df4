"""Which item of a slot, and which set of its numbers, a learner gets: the same on both sides, from names alone.

Nothing here is secret. Every learner has the whole pool of a slot in hand, and who types another's name is told so
when the quiz is graded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

LEARNER = "learner"
"""The answer of a slot that says for whom it was asked, beside those of the item."""


def name_of(learner: str) -> str:
    """A learner's name as it is compared: without spaces around it, in small letters."""
    return learner.strip().casefold()


def pick(learner: str, where: str, among: Sequence[T]) -> T:
    """The one of `among` that `learner` gets at `where` ("quiz-2/s1")."""
    digest = hashlib.sha256(f"{where}\0{name_of(learner)}".encode()).digest()
    return among[int.from_bytes(digest[:8]) % len(among)]


def face(learner: str, where: str, faces: Sequence[Sequence[T]]) -> T:
    """The face that `learner` gets at `where`: first an item, each as likely as the others, then one of its faces."""
    return pick(learner, f"{where}/numbers", pick(learner, where, faces))
