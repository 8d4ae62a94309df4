"""Where the figures of level 5 come from: see prose.py."""

from __future__ import annotations

from fractions import Fraction

from stated import Stated

from autograder.judge import budget
from autograder.judge.budget import GPT3, MIXED, Method, activations, time

GB, MB = 10**9, 10**6
_STATE = budget.state(Method.ZERO3, 175 * GB, 1024, MIXED).total
_GATHERED = budget.transient([budget.gpt_block(GPT3.hidden)] * 3, MIXED.compute).total
_PLAN = budget.Budget(_STATE, _GATHERED, activations.peak(GPT3, "full")).total
_KEPT = {how: activations.kept(GPT3, how) for how in ("none", "scores", "full")}
_PEAK = activations.peak(GPT3, "full")
_FLASH_PEAK = activations.peak(GPT3, "full", store_scores=False)
_ON_256 = budget.state(Method.ZERO3, 175 * GB, 256, MIXED).total


def _most(store_scores: bool) -> int:
    """The largest batch on 80 GB beside state and gathered units."""
    room = int(80 * GB - _STATE - _GATHERED)
    return activations.largest_batch(GPT3, room, "full", store_scores=store_scores)


SOURCES: dict[str, Fraction | int | Stated] = {
    "1 %": Stated("the tolerance, rel=0.01 of expect.quantity"),
    "1.5 GB": Stated("how to write an answer, and what the post of 5.3 says"),
    "30 GB": Stated("what the post of 5.3 says"),
    "80 GB": Stated("the card"),
    "2 byte": Fraction(activations.main_tensor(GPT3), GPT3.sbh),
    "1 byte": 1,  # a dropout mask, as in 5as^2b = (2 + 1 + 2)as^2b
    "12 byte": MIXED.optimizer,
    "16 byte": MIXED.total,
    "38.65 GB": _KEPT["full"] / GB,
    "3.62 GB": Fraction(2 * budget.gpt_block(GPT3.hidden), GB),
    "34.23 GB": (_STATE + Fraction(3, 2) * GB + 30 * GB) / GB,
    "2.73 GB": _STATE / GB,
    "203 GB": _KEPT["none"] / GB - 2000,  # "2,203 GB"
    "657 GB": _KEPT["scores"] / GB,
    "22.95 GB": activations.block(GPT3) / GB,
    "2.87 GB": activations.block(GPT3, tensor=8, sequence_parallel=True) / GB,
    "20 GB": Stated("where the curves of the picture start, about"),
    "11 GB": _ON_256 / GB,
    "5 GB": Stated("what 512 ranks free, about"),
}

PHRASES: list[tuple[str, bool]] = [
    ("$sbh\\left(34 + 5\\,\\frac{as}{h}\\right)$ bytes", 11 + 19 + 4 == 34),
    ("$5as/h$ is a whole number here", (5 * GPT3.heads * GPT3.sequence) % GPT3.hidden == 0),
    (
        "From 600 to 800 ms",
        (200 + time.backward_time(200), 200 + time.backward_time(200, recompute=True)) == (600, 800),
    ),
    ("would keep 2,203 GB", round(_KEPT["none"] / GB) == 2203),
    ("17 times the 38.65 GB", _KEPT["scores"] == 17 * _KEPT["full"]),
    (
        "shrinks 57-fold and the peak 36-fold",
        round(_KEPT["none"] / _KEPT["full"]) == 57 and round(_KEPT["none"] / _PEAK) == 36,
    ),
    ("without stored scores it is 17 and 14", round(_KEPT["scores"] / _FLASH_PEAK) == 14),
    ("climbs through forward to 102 block inputs", 6 * 17 == 102),
    ("4.63 of 22.95 GB", f"{float(activations.block(GPT3, tensor=8)) / GB:.2f}" == "4.63"),
    ("leaves a fifth of the block", round(activations.block(GPT3) / activations.block(GPT3, tensor=8)) == 5),
    ("13 of 34 stay", 10 + Fraction(24, 8) == 13),
    ("2.73 GB of 75.21", f"{float(_PLAN) / GB:.2f}" == "75.21"),
    (
        "with a million ranks the total would be 72.48",
        f"{float(_PLAN - _STATE + 16 * 175 * GB / 10**6) / GB:.2f}" == "72.48",
    ),
    (
        "crosses the dashed line of the 80 GB card after 8 sequences, the other after 11",
        (_most(True), _most(False)) == (8, 11),
    ),
    ("both starting near 20 GB", 18 < (_STATE + _GATHERED + _PEAK / 8) / GB < 22),
    ("about 5 GB and no more", round(_ON_256 / 2 / GB) == 5),
]

CORRECTIONS: dict[str, Fraction | int | Stated] = {
    "38.65 GB": _KEPT["full"] / GB,
    "61.6 GB": _PEAK / GB,
    "45.5 GB": _FLASH_PEAK / GB,
    "22.95 GB": activations.block(GPT3) / GB,
    "203 GB": _KEPT["none"] / GB - 2000,  # "2,203 GB"
    "657 GB": _KEPT["scores"] / GB,
    "3.62 GB": Fraction(2 * budget.gpt_block(GPT3.hidden), GB),
    "38.6 GB": Stated("the figure that is refined"),
    "30 GB": Stated("the figure that is refuted"),
    "33 %": Stated("the figure that is refined"),
}
