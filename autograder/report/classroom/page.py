"""The class report as one self-contained HTML page: no script, no other file, no network.

Names and answers of learners stand in it, so everything is escaped by the template engine; only charts and the course's
own prose come as markup.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from statistics import fmean, median
from typing import Any

import jinja2
from markupsafe import Markup

from autograder.quiz.text import to_html
from autograder.report.classroom import beliefs, charts, choices, labs, measures
from autograder.report.classroom.data import STATUSES, ClassData, Sheet, status
from autograder.report.classroom.firsts import First
from autograder.verdict import Verdict

HERE = Path(__file__).parent
BINS = 10
TOO_FEW = "too few"
Firsts = Mapping[str, Mapping[str, Mapping[str, First]]]
"""Assignment → learner → `exercise/answer` → first attempt."""


def page(data: ClassData, firsts: Firsts, named_groups: Mapping[str, str], when: datetime) -> str:
    """The page's text. `named_groups` maps learners to sections where there are any; `when` is the newest verdict's
    time."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), autoescape=True, undefined=jinja2.StrictUndefined
    )
    env.filters["shade"] = charts.shade
    env.filters["prose"] = lambda text: Markup(to_html(text))
    among = beliefs.groups(data, named_groups)
    counts = [sheet.statuses(sheet.verdicts) for sheet in data.sheets]
    blocked = sum(count["blocked"] for count in counts)
    waiting = blocked + sum(count["waits for a person"] + count["ungradable"] for count in counts)
    return env.get_template("page.html").render(
        title=data.course.title,
        css=Markup((HERE / "page.css").read_text(encoding="utf-8")),
        as_of=f"{when:%Y-%m-%d %H:%M} UTC",
        learners=data.learners,
        sheets=data.sheets,
        cells={learner: _cells(data.sheets, learner) for learner in data.learners},
        status_colours=charts.STATUS_COLOURS,
        summaries=[_summary(data, sheet) for sheet in data.sheets],
        beliefs=beliefs.shown(data, among),
        groups=among,
        grouping=_grouping(among, named_groups),
        item_tables=[_items(data, sheet, firsts.get(sheet.assignment.name, {})) for sheet in data.sheets],
        labs=labs.rows(data),
        names={ident: belief.name for ident, belief in data.course.misconceptions.items()},
        waiting=waiting,
        blocked=blocked,
        fewest_mean=measures.FEWEST_FOR_MEAN,
        fewest_correlation=measures.FEWEST_FOR_CORRELATION,
    )


def _cells(sheets: Sequence[Sheet], learner: str) -> dict[str, dict[str, Any]]:
    return {sheet.assignment.name: _cell(sheet.verdicts.get(learner)) for sheet in sheets}


def _cell(verdict: Verdict | None) -> dict[str, Any]:
    """Share of points to shade by (None: no shade), and the text that says it."""
    state = status(verdict)
    if verdict is None or state == "absent":
        return {"share": None, "text": "", "kind": "absent"}
    if state in ("ungradable", "blocked", "rejected"):
        return {"share": None, "text": state, "kind": "odd"}
    sure = math.fsum(part.score for part in verdict.parts if part.score is not None)
    share = sure / verdict.max_score if verdict.max_score else 0.0
    waits = "" if state == "graded" else " +?"
    return {"share": share, "text": f"{100 * share:.0f}{waits}", "kind": "score"}


def _summary(data: ClassData, sheet: Sheet) -> dict[str, Any]:
    counts = sheet.statuses(data.learners)
    scores = list(sheet.scores().values())
    bins = [0] * BINS
    for share in scores:
        bins[min(int(share * BINS), BINS - 1)] += 1
    labels = [f"{100 * place // BINS}" if place % 2 == 0 else "" for place in range(BINS)]
    named = sheet.assignment.title
    words = ", ".join(f"{counts[name]} {name}" for name in STATUSES if counts[name])
    drawn = charts.histogram(bins, labels, f"{named}: learners by per cent of points, in tens: {bins}")
    few = len(scores) < measures.FEWEST_FOR_MEAN
    mean = (
        f"mean and median: {TOO_FEW} scores stand ({len(scores)})"
        if few
        else f"mean {100 * fmean(scores):.0f}%, median {100 * median(scores):.0f}% of points ({len(scores)} scores)"
    )
    return {
        "title": named,
        "statuses": Markup(charts.stacked(counts, f"{named}: {words}")),
        "words": words,
        "histogram": Markup(drawn) if scores else "",
        "mean": mean,
    }


def _grouping(among: Sequence[beliefs.Group], named: Mapping[str, str]) -> str:
    if named:
        return "as the list of groups has them"
    if len(among) == 1:
        return f"the whole class (thirds need {beliefs.FEWEST_FOR_THIRDS} learners with a score)"
    return "thirds of the class by mean share of points"


def _items(data: ClassData, sheet: Sheet, firsts: Mapping[str, Mapping[str, First]]) -> dict[str, Any]:
    quiz = sheet.assignment.quiz
    _, table = sheet.table()
    graded = quiz is not None and quiz.use == "graded"
    rows = [
        _item(sheet, place, item, table if graded else [], firsts) for place, item in enumerate(sheet.items)
    ]
    return {
        "title": sheet.assignment.title,
        "rows": rows,
        "firsts": any(row["tries"] for row in rows),
        "reliability": _reliability(sheet, table, graded),
        "questions": choices.of(data.course, sheet) if sheet.assignment.kind == "quiz" else (),
    }


def _reliability(sheet: Sheet, table: list[list[float]], graded: bool) -> str:
    quiz = sheet.assignment.quiz
    if not graded:
        return "Practice: discrimination and reliability are for graded quizzes."
    if quiz is not None and quiz.draw == "learner":
        return "Every learner drew other items: there is no common table to take discrimination and reliability from."
    found = measures.alpha(table) if table else None
    if found is None:
        return f"Reliability: {TOO_FEW} learners have answered every item ({len(table)}), or all have the same score."
    name = "KR-20" if measures.is_dichotomous(table) else "Cronbach's alpha"
    return f"Reliability ({name}): {found:.2f}, from {len(table)} learners and {len(sheet.items)} items."


def _item(
    sheet: Sheet,
    place: int,
    item: str,
    table: list[list[float]],
    firsts: Mapping[str, Mapping[str, First]],
) -> dict[str, Any]:
    shares = [
        answer.share
        for answers in sheet.answers.values()
        if (answer := answers.get(item)) is not None and answer.share is not None
    ]
    mean = measures.difficulty(shares)
    sorts = measures.discrimination(table, place) if table else None
    tries = [first for log in firsts.values() if (first := log.get(item)) is not None]
    enough = len(tries) >= measures.FEWEST_FOR_MEAN
    return {
        "item": item,
        "learners": len(shares),
        "difficulty": TOO_FEW if mean is None else f"{mean:.2f}",
        "meter": "" if mean is None else Markup(charts.meter(mean, f"{item}: {mean:.2f}")),
        "discrimination": "–" if sorts is None else f"{sorts:.2f}",
        "first": f"{100 * fmean(t.right for t in tries):.0f}%" if enough else (TOO_FEW if tries else ""),
        "tries": f"{median(t.tries for t in tries):g}" if enough else (TOO_FEW if tries else ""),
        "remark": _remark(mean, sorts),
    }


def _remark(mean: float | None, sorts: float | None) -> str:
    if sorts is not None and sorts < 0:
        return "those who do well elsewhere miss it: check its key and wording"
    if sorts is not None and sorts < 0.1:
        return "says little about who knows the rest"
    if mean is not None and mean < 0.35:
        return "hard for this class"
    return ""
