"""The command line: verbs, no logic. Exit code 0: the work was done, bad hand-ins included; 1: something is blocked or
a check failed; 2: wrong use.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from autograder import course as courses
from autograder.sandbox.unavailable import SandboxUnavailable
from autograder.tomlfile import ContentError

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="An auto-graded course on FSDP and sharded training.",
    pretty_exceptions_enable=False,
)

CourseOption = Annotated[
    Path | None,
    typer.Option("--course", help="The course's folder (default: the one you are in).", metavar="DIR"),
]


@app.command()
def start(folder: Annotated[Path, typer.Argument(metavar="DIR")], course: CourseOption = None) -> None:
    """Lay out your own working copy of levels, quizzes and labs in DIR."""
    from autograder import start as starting

    added = starting.start(courses.load(courses.find_root(course)), folder)
    typer.echo(f"{len(added)} files in {folder}. Next: jupyter lab {folder}")


@app.command()
def check(
    lab: Annotated[
        str, typer.Argument(help="A lab, its folder or its lab.py (default: the one you are in).")
    ] = "",
    course: CourseOption = None,
) -> None:
    """Try your own lab.py on real ranks, on this machine."""
    from autograder.report import labs

    raise typer.Exit(labs.check(courses.load(courses.find_root(course)), lab))


@app.command()
def hint(
    task: Annotated[str, typer.Argument(help="A task of a lab, as `shardlab check` names it.")],
    step: Annotated[int, typer.Argument(min=1, help="Which hint.")] = 1,
    course: CourseOption = None,
) -> None:
    """Show a hint for a task of a lab, one step at a time."""
    from autograder.report import labs

    typer.echo(labs.hint(courses.load(courses.find_root(course)), task, step))


@app.command()
def grade(
    course: CourseOption = None,
    sample: Annotated[
        Path | None,
        typer.Option("--sample", help="Lay out the bundled sample class in DIR, grade it.", metavar="DIR"),
    ] = None,
    student: Annotated[str, typer.Option(help="Only this learner.")] = "",
    assignment: Annotated[str, typer.Option(help="Only this assignment.")] = "",
    jobs: Annotated[int, typer.Option(min=0, help="Hand-ins at once; 0: one for each core.")] = 0,
    results: Annotated[
        Path | None, typer.Option(help="Where verdicts go (default: results/ of the course).", metavar="DIR")
    ] = None,
    sandbox: Annotated[
        bool, typer.Option("--sandbox/--no-sandbox", help="--no-sandbox: only for hand-ins of your own.")
    ] = True,
    engine: Annotated[Literal["local", "slurm"], typer.Option(help="Where hand-ins run.")] = "local",
    device: Annotated[
        Literal["auto", "cpu", "cuda"], typer.Option(help="What labs run on; auto: on GPUs where enough are.")
    ] = "auto",
    watch: Annotated[
        bool, typer.Option("--watch", help="Grade hand-ins as they come, until Ctrl-C.")
    ] = False,
) -> None:
    """Grade what is handed in below submitted/: notebooks, quizzes and labs. Stopped, it goes on at the next start."""
    from autograder.report.grading import Asked, run

    if watch and engine != "local":
        raise typer.BadParameter("--watch grades on this machine: leave --engine out")
    asked = Asked(
        sample=sample,
        student=student,
        assignment=assignment,
        jobs=jobs,
        results=results,
        sandboxed=sandbox,
        engine=engine,
        device=device,
        watch=watch,
    )
    raise typer.Exit(run(courses.load(courses.find_root(course)), asked))


@app.command()
def collect(
    archive: Annotated[
        Path, typer.Argument(metavar="ZIP", help="What Canvas or Moodle downloads for one assignment.")
    ],
    assignment: Annotated[str, typer.Option(help="The assignment it is of, as the course calls it.")],
    roster: Annotated[
        Path | None,
        typer.Option(help="Your own ids of learners: columns id, and lms, email or name.", metavar="CSV"),
    ] = None,
    course: CourseOption = None,
) -> None:
    """Lay out a learning platform's download below submitted/."""
    from autograder.report.collecting import run

    raise typer.Exit(run(courses.load(courses.find_root(course)), archive, assignment, roster))


@app.command()
def replay(
    verdict: Annotated[Path, typer.Argument(metavar="VERDICT", help="results/<learner>/<assignment>.json")],
    course: CourseOption = None,
    sandbox: Annotated[bool, typer.Option("--sandbox/--no-sandbox")] = True,
) -> None:
    """Grade a hand-in again with the seed of its verdict, and say in what the two differ."""
    from autograder.report.replaying import run

    raise typer.Exit(run(courses.load(courses.find_root(course)), verdict, sandboxed=sandbox))


@app.command()
def build(
    course: CourseOption = None,
    check: Annotated[bool, typer.Option("--check", help="Only say what is not as built.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite built files edited by hand.")] = False,
) -> None:
    """Build exercises, quiz notebooks and lab stubs from solutions/ and quizbank/."""
    from autograder.build import write
    from autograder.build.outputs import outputs

    loaded = courses.load(courses.find_root(course))
    if check:
        wrong = write.check(loaded.root, outputs(loaded))
        for line in wrong:
            typer.echo(line, err=True)
        typer.echo("built files are as their sources build them" if not wrong else f"{len(wrong)} wrong")
        raise typer.Exit(bool(wrong))
    changed = write.build(loaded.root, outputs(loaded), force=force)
    for line in changed:
        typer.echo(line)
    typer.echo(f"{len(changed)} files changed")


@app.command()
def verify(
    course: CourseOption = None,
    jobs: Annotated[int, typer.Option(min=0, help="Checks at once; 0: one for each core.")] = 0,
    sandbox: Annotated[bool, typer.Option("--sandbox/--no-sandbox")] = True,
) -> None:
    """Prove the course: every stub fails, every solution passes, every attempt gets its verdict."""
    from autograder.report.verifying import run

    raise typer.Exit(run(courses.load(courses.find_root(course)), jobs=jobs, sandboxed=sandbox))


@app.command()
def quiz(
    topic: Annotated[list[str] | None, typer.Argument(help="Topics of the bank (default: all).")] = None,
    count: Annotated[int, typer.Option(min=1, help="How many questions.")] = 10,
    html: Annotated[
        Path | None,
        typer.Option(help="Write a page for the browser in place of asking here.", metavar="FILE"),
    ] = None,
    course: CourseOption = None,
) -> None:
    """Practise with the question bank; what you miss comes back."""
    from autograder.report.quizzing import run

    raise typer.Exit(run(courses.load(courses.find_root(course)), topic or [], count, html))


@app.command()
def extend(
    student: Annotated[str, typer.Argument(metavar="STUDENT")],
    assignment: Annotated[str, typer.Argument(metavar="ASSIGNMENT")],
    length: Annotated[
        str, typer.Argument(help="2d, 36h, 90m, 1w, 1d12h; 0 takes it back.", metavar="LENGTH")
    ],
    course: CourseOption = None,
) -> None:
    """Give a learner longer for an assignment, before or after something is handed in."""
    from autograder.report.extending import run

    raise typer.Exit(run(courses.load(courses.find_root(course)), student, assignment, length))


@app.command()
def similar(
    assignment: Annotated[str, typer.Option(help="Only this assignment.")] = "",
    at_least: Annotated[float, typer.Option(min=0, max=1, help="Show pairs alike by this share.")] = 0.6,
    course: CourseOption = None,
) -> None:
    """List hand-ins that share code, with one another, the reference or an attempt."""
    from autograder.report.similar import run

    raise typer.Exit(run(courses.load(courses.find_root(course)), assignment, at_least))


news = typer.Typer(no_args_is_help=True, help="Make a course of your own.")
app.add_typer(news, name="new")


@news.command("course")
def new_course(
    folder: Annotated[Path, typer.Argument(metavar="DIR")],
    items: Annotated[int, typer.Option(min=1, help="Graded questions to draw.")] = 12,
    title: Annotated[str, typer.Option(help="The course's title (default: the checkout's).")] = "",
    course: CourseOption = None,
) -> None:
    """Make a private course in DIR: a secret seed, and graded questions nobody has seen."""
    from autograder.newcourse import new

    built = new(courses.load(courses.find_root(course)), folder, items=items, title=title)
    typer.echo(
        f"{len(built)} files built in {folder}. Read its README.md, and keep {folder}/seed.secret to yourself"
    )


@app.command()
def report(
    results: Annotated[
        Path | None,
        typer.Option(help="Where the verdicts are (default: results/ of the course).", metavar="DIR"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The page to write (default: beside the verdicts).", metavar="FILE")
    ] = None,
    groups: Annotated[
        Path | None, typer.Option(help="Sections of the class: columns id and group.", metavar="CSV")
    ] = None,
    course: CourseOption = None,
) -> None:
    """Write one page on the class: progress, scores, items, and what it has not understood."""
    from autograder.report.classreport import run

    raise typer.Exit(run(courses.load(courses.find_root(course)), results, out, groups))


exports = typer.Typer(no_args_is_help=True, help="Write parts of the course in the formats of other systems.")
app.add_typer(exports, name="export")


@exports.command("quiz")
def export_quiz(
    form: Annotated[str, typer.Option("--format", help="moodle, gift, qti12, qti21, jupyterquiz or anki.")],
    out: Annotated[Path | None, typer.Option("--out", help="The file to write.", metavar="FILE")] = None,
    topic: Annotated[list[str] | None, typer.Option(help="Only this topic; may be given again.")] = None,
    course: CourseOption = None,
) -> None:
    """Write the question bank for Moodle, Canvas, Anki and others."""
    from autograder.report.exporting import run

    raise typer.Exit(run(courses.load(courses.find_root(course)), form, out, topic or []))


def main() -> None:
    """The console script. A wrong course or option is told in a sentence, exit code 2; so is a machine that makes no
    sandbox, exit code 1.
    """
    try:
        app()
    except SandboxUnavailable as error:
        typer.echo(f"shardlab: {error}", err=True)
        raise SystemExit(1) from error
    except ContentError as error:
        typer.echo(f"shardlab: {error}", err=True)
        raise SystemExit(2) from error
