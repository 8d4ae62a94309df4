"""The lint finds each fault it is there for, and names file, line and rule."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from autograder import course as courses
from autograder.build.verify import checks
from autograder.content import Course
from autograder.item import TwoTier
from autograder.quiz import lint
from autograder.report.verifying import bank_figures

HEAD = """\
title = "tiny"
"""
MISCONCEPTIONS = """\
[[misconception]]
id = "alpha"
name = "Alpha"
refutation = "Not alpha."
[[misconception]]
id = "beta"
name = "Beta"
refutation = "Not beta."
"""
ITEM = """
[[item]]
id = "q{n:03}"
version = 1
form = "two-tier"
level = 1
regime = "any"
statement = "Claim number {n} of the {word} kind holds."
key = {key}
explanation = "It holds or it does not, for the reason that is number {n} of its {word} kind."
misconceptions = ["alpha"]
source = "tests"
tags = ["tiny"]
{reasons}
"""
RIGHT = '[[item.reason]]\ntext = "Omega is the reason of {n}, {word} or more{tail}."\nright = true\n'
WRONG = (
    '[[item.reason]]\ntext = "{who} is the reason of {n}, {word} or more."\nmisconception = "{who}"\n'
    'refutation = "No, {who} is not the reason of {n} at all, {word}."\n'
)
TAILS = (" than that", "", "", "")
WORDS = [
    "red",
    "green",
    "blue",
    "black",
    "white",
    "grey",
    "pink",
    "brown",
    "orange",
    "violet",
    "silver",
    "golden",
]


def _item(n: int, *, key: bool | None = None) -> str:
    word = WORDS[n % len(WORDS)]
    wrong = [WRONG.format(who=who, n=n, word=word) for who in ("alpha", "beta")]
    wrong.insert(n % 3, RIGHT.format(n=n, word=word, tail=TAILS[n % 4]))
    truth = n % 2 == 0 if key is None else key
    return ITEM.format(n=n, word=word, key=str(truth).lower(), reasons="\n".join(wrong))


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    """A small bank without a fault."""
    root = tmp_path / "bank"
    (root / "quizbank").mkdir(parents=True)
    (root / "course.toml").write_text(HEAD)
    (root / "quizbank/misconceptions.toml").write_text(MISCONCEPTIONS)
    text = 'topic = "tiny"\n' + "".join(_item(n) for n in range(1, 13))
    (root / "quizbank/tiny.toml").write_text(text)
    return root


def _found(root: Path) -> list[lint.Finding]:
    return lint.lint(courses.load(root))


def _spoil(root: Path, old: str, new: str, count: int = 1) -> int:
    path = root / "quizbank/tiny.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, count))
    return text[: text.index(old)].count("\n") + 1


def test_a_fair_bank_passes(bank: Path) -> None:
    assert _found(bank) == []


def test_an_empty_bank_does_not_pass(bank: Path) -> None:
    (bank / "quizbank/tiny.toml").unlink()
    (finding,) = _found(bank)
    assert finding.rule == "not-empty"


@pytest.mark.parametrize(
    ("rule", "old", "new"),
    [
        ("complete", 'tags = ["tiny"]', "tags = []"),
        ("complete", 'source = "tests"', 'source = ""'),
        ("complete", 'regime = "any"', 'regime = " "'),
        ("level", "level = 1", "level = 6"),
        ("says-why", 'explanation = "It holds or it does not, for the reason that', 'explanation = "So." # '),
        ("absolutes", "Claim number 1 of", "Claim number 1 of all"),
        ("absolutes", "Claim number 2 of", "Claim number 2 never of"),
        ("double-negative", "Claim number 1 of", "It is not so that no claim number 1 of"),
        ("one-idea", "kind holds.", "kind holds; and so does another."),
        ("one-idea", "kind holds.", "kind holds" + " and holds" * 40 + "."),
        ("claim", "kind holds.", "kind holds, or does it?"),
        ("maths", "kind holds.", "kind holds for $x."),
        ("maths", "kind holds.", "kind holds for $\\\\nosuch{x}$."),
        ("maths", "kind holds.", "kind holds for $\\\\frac{x$."),
        ("markup", "kind holds.", "kind **holds."),
        ("computed", "kind holds.", "kind takes 12 GB."),
        ("computed", "kind holds.", "kind takes 12%."),
        ("computed", 'tags = ["tiny"]', 'tags = ["tiny"]\ngiven = ["7 GB"]'),
        ("computed", 'tags = ["tiny"]', 'tags = ["tiny"]\nnumbers = { "7 GB" = "3 + 4" }'),
        ("choices", 'misconception = "beta"', 'misconception = "alpha"'),
        ("choices", 'misconception = "alpha"\nrefutation', "refutation"),
        ("choices", "right = true", 'right = true\nmisconception = "beta"'),
        ("duplicate", "Claim number 1 of the green", "Claim number 2 of the blue"),
        ("duplicate", "beta is the reason of 1, green or more.", "alpha is the reason of 1, green or MORE"),
        ("coverage", 'misconceptions = ["alpha"]', 'misconceptions = ["alpha", "beta", "gamma"]'),
        (
            "length",
            "Omega is the reason of",
            "Omega is the right and by far the longest reason that there is of",
        ),
        ("length", "Omega is the reason of", "It is"),
    ],
)
def test_each_fault_is_found(bank: Path, rule: str, old: str, new: str) -> None:
    if rule == "coverage":
        with (bank / "quizbank/misconceptions.toml").open("a") as file:
            file.write('[[misconception]]\nid = "gamma"\nname = "Gamma"\nrefutation = "Not gamma."\n')
    line = _spoil(bank, old, new, 12 if rule == "length" else 1)
    found = [finding for finding in _found(bank) if finding.rule == rule]
    assert found, [str(finding) for finding in _found(bank)]
    assert re.match(rf"quizbank(/tiny\.toml)?:\d+: {rule}: ", str(found[0]))
    if found[0].file.endswith(".toml"):  # the line is that of the item
        near = [finding.line for finding in found]
        assert any(at <= line <= at + 30 or rule in ("duplicate", "coverage") for at in near)


@pytest.mark.parametrize(("key", "rule"), [(True, "true-keys"), (False, "true-keys"), (True, "coverage")])
def test_unbalanced_keys_are_found(bank: Path, key: bool, rule: str) -> None:
    text = 'topic = "tiny"\n' + "".join(_item(n, key=key) for n in range(1, 13))
    (bank / "quizbank/tiny.toml").write_text(text)
    assert rule in {finding.rule for finding in _found(bank)}


def test_one_place_for_the_right_choice_is_found(bank: Path) -> None:
    text = (bank / "quizbank/tiny.toml").read_text()
    items = text.split("[[item]]")
    moved = [
        "\n[[item.reason]]\n".join(
            sorted(item.split("\n[[item.reason]]\n"), key=lambda p: "right = true" in p)
        )
        for item in items
    ]
    (bank / "quizbank/tiny.toml").write_text("[[item]]".join(moved))
    assert "place" in {finding.rule for finding in _found(bank)}


NUMERIC = """
[[item]]
id = "q900"
version = 1
form = "numeric"
level = 1
regime = "any"
statement = "How much is twice {{x}} and nothing more than that?"
unit = "GB"
answer = "2 * x"
parameters = { x = [3, 5] }
explanation = "Twice {{x}} is {{2 * x}}, because doubling is adding a number to itself."
misconceptions = ["alpha"]
source = "tests"
tags = ["tiny"]
[[item.wrong]]
formula = "x"
misconception = "alpha"
refutation = "That is {{x}}, not twice as much."
[[item.wrong]]
formula = "3 * x"
misconception = "beta"
refutation = "That is three times {{x}}."
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('answer = "2 * x"', 'answer = "2 * y"', "NameError"),
        ('answer = "2 * x"', 'answer = "2 * x / 0"', "ZeroDivisionError"),
        ('answer = "2 * x"', "answer = \"'two'\"", "no number"),
        ('answer = "2 * x"', 'answer = "7"', "the same answer"),
        ('formula = "x"', 'formula = "2 * x"', "within"),
        ("{{2 * x}}", "{{2 * z}}", "NameError"),
        ("x = [3, 5]", "x = [3, 5], z = [1]", "z is not used"),
        ("parameters = { x = [3, 5] }", "parameters = { }", "no parameters"),
    ],
)
def test_faults_of_numbers_are_found(bank: Path, old: str, new: str, said: str) -> None:
    with (bank / "quizbank/tiny.toml").open("a") as file:
        file.write(NUMERIC)
    assert _found(bank) == []
    _spoil(bank, old, new)
    assert any(finding.rule == "numeric" and said in finding.what for finding in _found(bank)), _found(bank)


def test_a_figure_that_its_formula_does_not_give_is_found(bank: Path) -> None:
    _spoil(bank, "kind holds.", "kind takes 7.5 GB.")
    _spoil(bank, 'tags = ["tiny"]', 'tags = ["tiny"]\nnumbers = { "7.5 GB" = "15 / 2" }')
    assert _found(bank) == []
    _spoil(bank, "15 / 2", "15 / 2 + 0.06")
    (finding,) = _found(bank)
    assert finding.rule == "computed" and "7.56" in finding.what


def test_verify_runs_it(bank: Path, course: Course, content: Path) -> None:
    assert "question bank" in [check.name for check in checks(course)]
    shutil.rmtree(content / "quizbank")
    shutil.copytree(bank / "quizbank", content / "quizbank")
    text = (content / "course.toml").read_text()
    bare = re.sub(
        r"^order = \[.*?\]", "order = []", text[: text.index("[[quiz]]")], flags=re.DOTALL | re.MULTILINE
    )
    (content / "course.toml").write_text(bare)
    _spoil(content, "kind holds.", "kind holds; and another.")
    labs = content / "gpu_labs"
    shutil.rmtree(labs)
    (check,) = [check for check in checks(courses.load(content)) if check.name == "question bank"]
    assert any("one-idea" in line for line in check.run())


def test_verify_tells_what_the_bank_is_made_of(course: Course) -> None:
    said = "\n".join(bank_figures(course))
    claims = [item for item in course.items.values() if isinstance(item, TwoTier)]
    assert f"{len(course.items)} items" in said
    assert f"{sum(item.key for item in claims)} of {len(claims)} claims true" in said
    for item in course.items.values():
        assert item.form in said and item.topic in said
