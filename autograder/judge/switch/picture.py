"""Who waits for whom, as text: what a learner is shown of a hang."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from autograder.judge.switch.messages import End, Pending


@dataclass(frozen=True, slots=True)
class Wait:
    """A call nobody has answered, and the ranks it needs that have not come."""

    call: Pending
    needs: tuple[int, ...]


def draw(
    world: int, waits: Mapping[int, Sequence[Wait]], ends: Mapping[int, End], last: Mapping[int, str]
) -> str:
    """One line a rank, and the circle if there is one.

    `waits` holds, for each rank that stands still, the calls it stands still for; `ends` how ended ranks ended; `last`
    the last call of each rank.
    """
    lines = []
    for rank in range(world):
        if rank in ends:
            lines.append(f"rank {rank}: has {_ending(ends[rank])}")
        elif waits.get(rank):
            lines += [f"rank {rank}: waits in {w.call}{_missing(w)}" for w in waits[rank]]
        else:
            after = f" after {last[rank]}" if rank in last else ""
            lines.append(f"rank {rank}: waits for nobody; its own code runs{after}")
    circle = _circle(waits)
    if circle:
        lines.append("circle: " + " → ".join(f"rank {rank}" for rank in [*circle, circle[0]]))
    return "\n".join(lines)


def _missing(wait: Wait) -> str:
    if not wait.needs:
        return ""
    ranks = " and ".join(f"rank {rank}" for rank in wait.needs)
    verb = "has" if len(wait.needs) == 1 else "have"
    if wait.call.kind == "send":
        return f", which {verb} not called recv for it"
    if wait.call.kind == "recv":
        return f", and no matching send has come from {ranks}"
    return f" in group {wait.call.group}, where {ranks} {verb} not come"


def _ending(end: End) -> str:
    words = {
        "done": "finished",
        "crashed": "died",
        "missing": "ended: not written yet",
        "limit": "hit a limit",
    }
    return words.get(end.how, f"ended with {end.text.splitlines()[0]}" if end.text else "ended")


def _circle(waits: Mapping[int, Sequence[Wait]]) -> list[int]:
    """The first circle of ranks that wait for each other, smallest rank first; empty when there is none."""
    after = {rank: sorted({need for wait in found for need in wait.needs}) for rank, found in waits.items()}
    for start in sorted(after):
        path, seen = [start], {start}
        while True:
            following = [rank for rank in after.get(path[-1], ()) if rank in after]
            if start in following and len(path) > 1:
                return path
            fresh = [rank for rank in following if rank not in seen and rank > start]
            if not fresh:
                break
            path.append(fresh[0])
            seen.add(fresh[0])
    return []
