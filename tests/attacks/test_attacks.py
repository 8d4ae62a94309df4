"""Every attack gets what it must get, an honest hand-in beside it gets its points, and nothing stays.

What the attacks are and what they try stands in their files; `handins.py` says where.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.attacks import handins
from tests.attacks.conftest import USERS, Runs
from tests.attacks.handins import HandIn
from tests.attacks.harness import NEIGHBOURS

HAND_INS = handins.everything()
BY_NAME = {handin.name: handin for handin in HAND_INS}
PARAMS = [pytest.param(h, id=h.name, marks=[pytest.mark.soak] if h.soak else []) for h in HAND_INS]
GROWS_MOST, PEAK_MOST = 200, 1500  # MiB; a lab's answer may be 128 MiB a rank, and what is queued 1 GiB
TAKES_MOST = 120.0  # seconds of any of these, on a machine however slow: none may hold its grader
pytestmark = pytest.mark.timeout(900)  # the first test of a user waits for the whole run

both = pytest.mark.parametrize("user", USERS)


@both
@pytest.mark.parametrize("handin", PARAMS)
def test_it_gets_what_it_must(runs: Runs, user: str, handin: HandIn) -> None:
    batch = runs(user)
    graded = batch.graded[handin.name]
    bounded = "memory" in graded.groups or not handin.groups
    assert not bounded or not graded.differences(handin.expected)
    assert graded.left == []
    assert graded.grown_mib < GROWS_MOST and graded.peak_mib < PEAK_MOST
    assert graded.end - graded.start < TAKES_MOST
    beside = batch.beside(graded)
    assert beside, "nobody was graded beside it"
    wrong = [
        f"{other.name}: {d}" for other in beside for d in other.differences(BY_NAME[other.name].expected)
    ]
    assert not wrong and not [what for other in beside for what in other.left]
    if not bounded:
        pytest.skip(
            f"{user} may make no control groups here: what several processes take together has no bound"
        )


@both
@pytest.mark.parametrize("name", NEIGHBOURS)
def test_neighbours_pass_and_nothing_lies_outside(runs: Runs, user: str, name: str) -> None:
    batch = runs(user)
    mine = [one for one in batch.neighbours if one.name == name]
    assert mine and not [d for one in mine for d in one.differences(BY_NAME[name].expected)]
    assert batch.outside == []


def test_every_attack_has_an_honest_control() -> None:
    for handin in HAND_INS:
        folder = "lab/labs" if handin.kind == "lab" else "notebook"
        control = BY_NAME[f"{folder}/{handin.control}"]
        assert control.honest and {status for status, _ in control.expected.values()} == {"passed"}
        assert not control.soak or handin.soak


def test_there_are_attacks_of_each_kind() -> None:
    kinds = Counter(handin.name.rpartition("/")[0] for handin in HAND_INS if not handin.honest)
    assert kinds["lab/labs"] >= 30 and kinds["notebook"] >= 20
    assert kinds["lab/around"] >= 25 and kinds["lab/reach"] == kinds["notebook/reach"] >= 6
