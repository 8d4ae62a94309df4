"""The class report on classes whose truth is known: what it counts, what it refuses to say, and that it is inert."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from autograder import course as courses
from autograder import verdict as verdicts
from autograder.content import Assignment, Course, Quiz
from autograder.report import classreport
from autograder.report.classroom import beliefs, choices, data, firsts, page
from autograder.tomlfile import ContentError
from autograder.verdict import Part, PartStatus, Status, Verdict, scored, total, unscored, without_score

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def course() -> Course:
    return courses.load(ROOT)


def made(student: str, assignment: str, parts: list[Part]) -> Verdict:
    most = sum(part.max_score for part in parts)
    return Verdict(
        student=student,
        assignment=assignment,
        status=Status.GRADED,
        score=total(parts),
        max_score=most,
        parts=tuple(parts),
    )


def chose(letter: str, right: str = "b", misconception: str = "") -> list[Part]:
    """Question q001 answered: the claim right, and this reason."""
    held = letter == right
    evidence = {"expected": right, "given": repr(letter)}
    return [
        scored("q001/claim", 1.0, 0.5, "", evidence={"expected": "True", "given": "True"}),
        scored("q001/because", float(held), 0.5, "", misconception=misconception or None, evidence=evidence),
    ]


def klass(course: Course, of: list[Verdict], folder: Path, learners: tuple[str, ...] = ()) -> data.ClassData:
    for verdict in of:
        verdicts.write(verdict, folder)
    return data.read(course, folder, learners)


def text(course: Course, of: list[Verdict], folder: Path, **more: object) -> BeautifulSoup:
    found = klass(course, of, folder)
    return BeautifulSoup(page.page(found, {}, {}, datetime(2026, 1, 2, tzinfo=UTC)), "lxml")


def test_distractors_are_counted_by_letter_and_by_who_took_them(course: Course, tmp_path: Path) -> None:
    of = [made(f"right{n}", "quiz-1", chose("b")) for n in range(8)]
    of += [made(f"wrong{n}", "quiz-1", chose("d", misconception="activations-are-sharded")) for n in range(3)]
    of += [made("none", "quiz-1", [*chose("b")[:1], unscored("q001/because", PartStatus.MISSING, 0.5, "")])]
    found = klass(course, of, tmp_path)
    (question,) = choices.of(course, found.sheets[0])
    counts = {option.given: (option.count, option.upper, option.lower) for option in question.options}
    # 27% of 12 are 3: the lowest are those three or the one who chose nothing, all at half the points
    assert counts["b"] == (8, 3, 0)
    assert counts["d"][0] == 3 and counts["d"][1] == 0
    assert question.unanswered == 1 and question.answered == 11
    assert [option.given for option in question.options if option.right] == ["b"]


def test_what_to_teach_next_counts_learners_once_and_over_all_kinds(course: Course, tmp_path: Path) -> None:
    belief = "activations-are-sharded"
    of = [made("ada", "quiz-1", chose("d", misconception=belief))]
    of += [made("ada", "level-1", [scored("1.1/sharded", 0.0, 1.0, "", misconception=belief)])]
    of += [made("ben", "level-1", [scored("1.1/sharded", 0.0, 1.0, "", misconception=belief)])]
    of += [made("eve", "quiz-1", chose("b")), made("zoe", "quiz-2", chose("b"))]
    lab = [scored("ring_all_gather", 0.0, 3.0, "", misconception="send-then-receive")]
    of += [made("eve", "lab-ring_collectives", lab)]
    found = klass(course, of, tmp_path)
    shown = beliefs.shown(found, beliefs.groups(found, {"ada": "A", "ben": "B", "eve": "B"}))
    assert [(one.ident, len(one.learners), len(one.asked)) for one in shown] == [
        (belief, 2, 3),
        ("send-then-receive", 1, 1),
    ]
    assert shown[0].by == {"A": 1, "B": 1, "no group": 0}
    assert shown[0].of == {"A": 1, "B": 2, "no group": 0}, "zoe handed in nothing in which anybody showed it"
    assert shown[0].where == {"level-1": 2, "quiz-1": 1}
    assert shown[1].name == course.labs["ring_collectives"].mistakes["send-then-receive"].what


def test_thirds_go_by_score_and_small_classes_stay_whole(course: Course, tmp_path: Path) -> None:
    of = [
        made(
            f"l{n:02}",
            "level-1",
            [
                scored("1.1/sharded", n / 11, 1.0, "")
                if n
                else unscored("1.1/sharded", PartStatus.MISSING, 1.0, "")
            ],
        )
        for n in range(12)
    ]
    found = klass(course, of, tmp_path / "twelve")
    thirds = {group.name: sorted(group.learners) for group in beliefs.groups(found, {})}
    assert thirds["lower third"] == ["l00", "l01", "l02", "l03"]
    assert thirds["upper third"] == ["l08", "l09", "l10", "l11"]
    small = klass(course, of[:8], tmp_path / "eight")
    assert [group.name for group in beliefs.groups(small, {})] == ["all"]


def test_statuses_are_told_apart_and_only_scores_that_stand_are_counted(
    course: Course, tmp_path: Path
) -> None:
    waits = [scored("2.1/dp", 1.0, 4.0, ""), unscored("2.4/essay", PartStatus.PENDING, 2.0, "")]
    broke = [scored("2.1/dp", 1.0, 4.0, ""), unscored("2.4/essay", PartStatus.BLOCKED, 2.0, "")]
    of = [
        made("ada", "level-2", [scored("2.1/dp", 0.5, 4.0, "")]),
        made("ben", "level-2", waits),
        made("chloe", "level-2", broke),
        without_score("dmitri", "level-2", Status.UNGRADABLE, 6.0, "no notebook"),
        without_score("emma", "level-2", Status.ABSENT, 6.0, ""),
        Verdict(student="farid", assignment="level-2", status=Status.REJECTED, score=0.0, max_score=6.0),
    ]
    found = klass(course, of, tmp_path, ("grace",))
    (sheet,) = found.sheets
    assert sheet.statuses(found.learners) == {
        "graded": 1,
        "waits for a person": 1,
        "ungradable": 1,
        "rejected": 1,
        "blocked": 1,
        "absent": 2,
    }
    assert sheet.scores() == {"ada": 0.5}


def test_small_classes_get_words_and_no_numbers(course: Course, tmp_path: Path) -> None:
    soup = text(course, [made(f"l{n}", "quiz-1", chose("b")) for n in range(4)], tmp_path)
    row = soup.select_one("#items tbody tr")
    assert row is not None and "too few" in row.get_text()
    assert "too few scores stand (4)" in soup.get_text()


def test_practice_has_no_discrimination_and_a_graded_quiz_has(course: Course, tmp_path: Path) -> None:
    def answered(student: str, right: list[bool]) -> Verdict:
        return made(
            student, "exam", [scored(f"g{n}/value", float(held), 1.0, "") for n, held in enumerate(right)]
        )

    rows = [[1, 1, 1, 1], [1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]] * 4
    of = {f"l{n:02}": answered(f"l{n:02}", [bool(x) for x in row]) for n, row in enumerate(rows)}
    words = {}
    for use in ("graded", "practice"):
        exam = Assignment(
            name="exam",
            kind="quiz",
            title="Exam",
            source=None,
            notebook=tmp_path,
            release=tmp_path,
            quiz=Quiz(name="exam", title="Exam", use=use),
        )
        found = data.ClassData(course, tuple(of), (data.sheet(exam, of),))
        soup = BeautifulSoup(page.page(found, {}, {}, datetime(2026, 1, 2, tzinfo=UTC)), "lxml")
        items = soup.select_one("#items")
        assert items is not None
        words[use] = items.get_text(" ", strip=True)
    assert "Reliability (KR-20): 0.80, from 20 learners and 4 items" in words["graded"]
    assert "0.51" in words["graded"], "0.24/√(0.16 · 1.36), see test_measures"
    assert "KR-20" not in words["practice"] and "0.51" not in words["practice"]


def test_first_attempts_come_from_the_log_and_nothing_in_it_breaks_the_report(tmp_path: Path) -> None:
    def line(**said: str) -> str:
        return json.dumps({"at": "2026-01-02T03:04:05+00:00", "exercise": "2.1", "answers": {}, "said": said})

    junk = [
        "{",
        "[]",
        '{"exercise": 3, "said": {}}',
        '{"exercise": "2.1", "said": {"dp": ["right"]}}',
        "[" * 5000,
        "\0",
    ]
    log = [line(dp="missing", fsdp="right"), *junk, line(dp="wrong"), line(dp="right"), line(dp="right")]
    (tmp_path / "attempts.jsonl").write_text("\n".join(log), encoding="utf-8")
    assert firsts.read(tmp_path) == {"2.1/dp": firsts.First(False, 3), "2.1/fsdp": firsts.First(True, 1)}


def test_a_log_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "other").write_text(
        json.dumps({"exercise": "2.1", "said": {"dp": "right"}}), encoding="utf-8"
    )
    (tmp_path / "attempts.jsonl").symlink_to(tmp_path / "other")
    assert firsts.read(tmp_path) == {}


def test_what_learners_wrote_is_inert(course: Course, tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    parts = [
        scored("q001/claim", 1.0, 0.5, ""),
        scored("q001/because", 0.0, 0.5, evil, evidence={"expected": "b", "given": evil}),
    ]
    soup = text(course, [made("<b>ada<", "quiz-1", parts)], tmp_path)
    assert not soup.find_all("script") and "<b>ada<" in soup.get_text()
    assert evil[:40] in soup.get_text(), "it is shown, as text"
    assert not soup.select("link, img, iframe, [src], [onload]"), "and the page fetches nothing"


def test_figures_of_labs_are_set_beside_the_ideal(course: Course, tmp_path: Path) -> None:
    def ran(student: str, measured: float) -> Verdict:
        figures = [{"what": "bytes sent", "ideal": 3072, "measured": measured, "unit": "B"}]
        part = scored("ring_all_gather", 1.0, 3.0, "", evidence={"figures": figures})
        return made(student, "lab-ring_collectives", [part])

    soup = text(course, [ran("ada", 3072), ran("ben", 3072), ran("eve", 12288)], tmp_path)
    row = soup.select_one("#labs tbody tr")
    assert row is not None
    assert [cell.get_text() for cell in row.find_all(["th", "td"])] == [
        "ring_collectives",
        "ring_all_gather",
        "bytes sent",
        "3,072 B",
        "3",
        "3,072 B",
        "3,072 B",
        "12,288 B",
    ]


def test_nothing_to_report_says_what_to_do(course: Course, tmp_path: Path) -> None:
    with pytest.raises(ContentError, match="no verdicts here; run `shardlab grade` first"):
        classreport.run(course, tmp_path, None, None)
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "level-1.json").write_text("{}")
    with pytest.raises(ContentError, match=r"ada/level-1\.json: not a verdict"):
        classreport.run(course, tmp_path, None, None)


def test_groups_that_cannot_be_read_are_told_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "groups.csv"
    for content, told in {
        "id,section\nada,A\n": "needs the columns id and group",
        "id,group\nada,A\nben,\n": r"groups\.csv:3: group: ben has none",
        "id,group\n../x,A\n": r"groups\.csv:2: id",
    }.items():
        path.write_text(content, encoding="utf-8")
        with pytest.raises(ContentError, match=told):
            classreport.read_groups(path)
    path.write_text("\ufeffID, Group\nada,A\n", encoding="utf-8")
    assert classreport.read_groups(path) == {"ada": "A"}


def test_the_command_writes_the_page_beside_the_verdicts(
    course: Course, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdicts.write(made("ada", "quiz-1", chose("d", misconception="activations-are-sharded")), tmp_path)
    assert classreport.run(course, tmp_path, None, None) == 0
    written = tmp_path / "class-report.html"
    assert "<title>FSDP and sharded training · class report</title>" in written.read_text(encoding="utf-8")
    told = " ".join(capsys.readouterr().out.split())
    assert "teach next: Sharding divides the activations too (1 of 1 learners)" in told
