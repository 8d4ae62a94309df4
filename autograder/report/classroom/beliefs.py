"""The misconception map: which named wrong beliefs a class has shown, by group, over quiz, exercise and lab."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from autograder.report.classroom.data import ClassData, Sheet

FEWEST_FOR_THIRDS = 9
"""Learners below which a third of the class would be one or two people."""


@dataclass(frozen=True)
class Group:
    """Learners that are looked at together."""

    name: str
    learners: frozenset[str]


@dataclass(frozen=True)
class Shown:
    """One belief in one class. `by` counts, for each group, the learners who showed it; `of` those who handed in an
    assignment in which somebody did, so who had the occasion. `where` are the assignments, most learners first.
    """

    ident: str
    name: str
    refutation: str
    see: str
    by: Mapping[str, int]
    of: Mapping[str, int]
    learners: frozenset[str]
    asked: frozenset[str]
    where: Mapping[str, int]

    @property
    def share(self) -> float:
        """Of those who had the occasion, how many showed it."""
        return len(self.learners) / len(self.asked)


def groups(data: ClassData, named: Mapping[str, str]) -> tuple[Group, ...]:
    """The groups of a class. `named` maps learners to groups where there are sections; the others are "no group".
    Else the class is cut in thirds by the mean share of points in what was graded, or, where it is too small, not at
    all.
    """
    if named:
        sections: dict[str, set[str]] = {}
        for learner in data.learners:
            sections.setdefault(named.get(learner, "no group"), set()).add(learner)
        return tuple(Group(name, frozenset(sections[name])) for name in sorted(sections))
    means = _means(data.sheets)
    if len(means) < FEWEST_FOR_THIRDS:
        return (Group("all", frozenset(data.learners)),)
    order = sorted(means, key=lambda learner: (means[learner], learner))
    first, second = round(len(order) / 3), round(2 * len(order) / 3)
    cut = {"upper third": order[second:], "middle third": order[first:second], "lower third": order[:first]}
    return tuple(Group(name, frozenset(learners)) for name, learners in cut.items())


def shown(data: ClassData, among: Sequence[Group]) -> tuple[Shown, ...]:
    """Every belief somebody showed, the one to teach next first: by how many learners showed it, and among equals by
    the larger share of those who had the occasion. A lab's own mistakes count like those of the bank.
    """
    who: dict[str, dict[str, set[str]]] = {}
    for sheet in data.sheets:
        for learner, answers in sheet.answers.items():
            for answer in answers.values():
                for part in answer.parts:
                    if part.misconception:
                        places = who.setdefault(part.misconception, {})
                        places.setdefault(sheet.assignment.name, set()).add(learner)
    handed_in = {sheet.assignment.name: frozenset(sheet.answers) for sheet in data.sheets}
    made = [_shown(data, among, ident, places, handed_in) for ident, places in who.items()]
    return tuple(sorted(made, key=lambda one: (-len(one.learners), -one.share, one.ident)))


def _shown(
    data: ClassData,
    among: Sequence[Group],
    ident: str,
    places: Mapping[str, set[str]],
    handed_in: Mapping[str, frozenset[str]],
) -> Shown:
    learners = frozenset().union(*places.values())
    asked = frozenset().union(*(handed_in[name] for name in places))
    name, refutation, see = _told(data, ident)
    most_first = sorted(places, key=lambda place: (-len(places[place]), place))
    return Shown(
        ident=ident,
        name=name,
        refutation=refutation,
        see=see,
        by={group.name: len(learners & group.learners) for group in among},
        of={group.name: len(asked & group.learners) for group in among},
        learners=learners,
        asked=asked,
        where={place: len(places[place]) for place in most_first},
    )


def _told(data: ClassData, ident: str) -> tuple[str, str, str]:
    known = data.course.misconceptions.get(ident)
    if known:
        return known.name, known.refutation, known.see
    for lab in data.course.labs.values():
        if ident in lab.mistakes:
            return lab.mistakes[ident].what, lab.mistakes[ident].why, f"lab {lab.name}"
    return ident, "", ""  # of an older course: the verdict names what the bank no longer knows


def _means(sheets: Sequence[Sheet]) -> dict[str, float]:
    shares: dict[str, list[float]] = {}
    for sheet in sheets:
        for learner, share in sheet.scores().items():
            shares.setdefault(learner, []).append(share)
    return {learner: fmean(given) for learner, given in shares.items()}
