"""Makes an instructor's private course out of a checkout: a secret seed, its own salt, and a quiz of graded items that
nobody has seen.
"""

from __future__ import annotations

import re
import secrets
import shutil
from pathlib import Path

from autograder import course as courses
from autograder import durable
from autograder.build import write
from autograder.build.outputs import outputs
from autograder.content import Course
from autograder.quiz import draw
from autograder.tomlfile import ContentError

SEED = "seed.secret"
"""32 random bytes, in hexadecimal: what graded items are drawn with. Readable by its owner alone, and not in git."""
COPIED = ("course.toml", "nbgrader_config.py", "gpu_labs", "quizbank", "solutions")
TOPIC = "graded"
IGNORED = [
    "seed.secret",
    "submitted/",
    "autograded/",
    "feedback/",
    "results/",
    "gradebook.db*",
    ".nbgrader.log",
]

README = """\
# {title}

A private course: keep this folder where learners cannot read it. `{seed}` draws the graded questions; without it they
cannot be made again, so back it up where the gradebook is backed up.

    shardlab build                  # after every change of sources
    nbgrader release_assignment …   # or: copy exercises/<assignment> to your learners
    shardlab collect ZIP --assignment …
    shardlab grade

The graded quiz is `exam`, its questions are `quizbank/{topic}.toml`.
"""


def new(course: Course, folder: Path, *, items: int = 12, title: str = "") -> list[str]:
    """Lays out the private course in `folder`, builds it, and returns the files built. Nothing is left behind where it
    fails. Raises ContentError: for a folder that holds something, a course without its sources, too few templates.
    """
    folder = folder.resolve()
    if not (course.root / "solutions/notebooks").is_dir():
        raise ContentError(
            f"{course.root} holds no solutions: a new course is made from a checkout; name one with --course"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ContentError(f"{folder} is not empty: name a new folder")
    if folder.is_relative_to(course.root):
        raise ContentError(f"{folder} lies inside the checkout: a private course is kept apart from it")
    made = folder.with_name(f".{folder.name}.new")
    if made.exists():
        shutil.rmtree(made)  # of an earlier try that was killed
    made.mkdir(parents=True)
    try:
        built = _lay_out(course, made, items, title or course.title)
        if folder.exists():
            folder.rmdir()
        made.rename(folder)
    except BaseException:
        shutil.rmtree(made)
        raise
    return built


def _lay_out(course: Course, folder: Path, count: int, title: str) -> list[str]:
    for name in COPIED:
        source = course.root / name
        if source.is_dir():
            shutil.copytree(
                source, folder / name, ignore=shutil.ignore_patterns("__pycache__", "built.json", "exercises")
            )
        elif source.is_file():
            shutil.copyfile(source, folder / name)
    seed = secrets.token_bytes(32)
    durable.write(folder / SEED, (seed.hex() + "\n").encode())
    (folder / SEED).chmod(0o600)
    try:
        drawn = draw.graded(course.items, seed, count)
    except draw.NothingToDraw as error:
        raise ContentError(f"{error} (--items)") from error
    durable.write(folder / "quizbank" / f"{TOPIC}.toml", draw.toml(drawn, TOPIC).encode())
    text = (folder / "course.toml").read_text(encoding="utf-8")
    durable.write(folder / "course.toml", _course_toml(text, title).encode())
    (folder / ".gitignore").write_text("\n".join(IGNORED) + "\n", encoding="utf-8")
    about = README.format(title=title, seed=SEED, topic=TOPIC)
    (folder / "README.md").write_text(about, encoding="utf-8")
    loaded = courses.load(folder)
    return write.build(folder, outputs(loaded), force=False)


def _course_toml(text: str, title: str) -> str:
    """The checkout's course.toml with another title and one more quiz, which learners answer without being told."""
    quoted = title.replace("\\", "\\\\").replace('"', '\\"')
    text = re.sub(r'^title = ".*"$', lambda _: f'title = "{quoted}"', text, count=1, flags=re.MULTILINE)
    exam = f"""
[[quiz]]
name = "exam"
title = "Exam"
topics = ["{TOPIC}"]
use = "graded"        # answers are recorded, nothing is told
points = 2.0
"""
    return text.rstrip() + "\n" + exam
