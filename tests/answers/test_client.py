"""`submit` as a learner calls it: a real process, a real socket, the judge at its other end; and without a judge."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from answers.helpers import SEED, Bank, key, two_tier, write_instant
from autograder.judge.exercise import judge_cell
from autograder.judge.heard import Heard
from autograder.judge.key import Key
from autograder.judge.talk import Talk
from autograder.verdict import Part, PartStatus

KEY = key("""
expect.quantity("dp", "112 GB", wrong={"28 GB": "alpha"}, because="Sixteen bytes each.")
expect.function("f", like=lambda P, N: 16 * P / N, given={"P": draw.integers(1, 10**12), "N": draw.choice([2, 4, 8])},
    edges=[{"P": 8, "N": 1}], examples=[{"P": 7 * 10**9, "N": 8}], wrong={"alpha": lambda P, N: 16 * P})
""")
ITEM = key('expect.item("q001")', "q001", 1.0, two_tier())
RIGHT = 'submit("2.1", dp="112 GB", f=lambda P, N: 16 * P / N)'


@dataclass
class Ran:
    heard: Heard
    out: str
    err: str
    code: int
    parts: tuple[Part, ...]

    @property
    def statuses(self) -> list[str]:
        return [part.status.value for part in self.parts]


def program(code: str) -> list[str]:
    return [sys.executable, "-c", "from autograder import answer, submit\n" + textwrap.dedent(code)]


def environment(**more: str) -> dict[str, str]:
    kept = {n: v for n, v in os.environ.items() if n not in ("SHARDLAB_JUDGE_FD", "NBGRADER_VALIDATING")}
    return {**kept, **more}


def graded(code: str, folder: Path, made: Key = KEY, function_seconds: float = 5.0) -> Ran:
    """Runs `code` with a judge at the other end of its socket."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            program(code),
            env=environment(SHARDLAB_JUDGE_FD=str(theirs.fileno())),
            pass_fds=[theirs.fileno()],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
    talk = Talk(ours, function_seconds=function_seconds)
    try:
        talk.start(made, seed=SEED, seconds=30)
        out, err = process.communicate(timeout=60)
        heard = talk.finish()
    finally:
        process.kill()
        process.wait()
        talk.close()
    parts = judge_cell(made, heard, seed=SEED, misconceptions=Bank().misconceptions)
    return Ran(heard, out, err, process.returncode, parts)


def alone(code: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs `code` on a learner's own machine."""
    return subprocess.run(
        program(code),
        env=environment(**more),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


# --- graded ----------------------------------------------------------------------------------------------------------


def test_a_graded_submit_says_recorded_and_nothing_else(tmp_path: Path) -> None:
    write_instant(tmp_path, KEY)  # even where instant answers lie about
    ran = graded(RIGHT, tmp_path)
    assert (ran.out, ran.err, ran.code) == ("2.1: recorded\n", "", 0)
    assert ran.statuses == ["passed", "passed"]
    wrong = graded('submit("2.1", dp="28 GB", f=lambda P, N: 16 * P)', tmp_path)
    assert (wrong.out, wrong.err, wrong.code) == ("2.1: recorded\n", "", 0)
    assert [p.misconception for p in wrong.parts] == ["alpha", "alpha"]
    assert not (tmp_path / "attempts.jsonl").exists()


def test_validation_in_a_graded_process_tells_nothing(tmp_path: Path) -> None:
    ran = graded(
        'import os; os.environ["NBGRADER_VALIDATING"] = "1"\nsubmit("2.1", dp="28 GB", f=...)', tmp_path
    )
    assert (ran.out, ran.code) == ("2.1: recorded\n", 0)


def test_an_untouched_cell_is_missing_and_no_error(tmp_path: Path) -> None:
    ran = graded(
        """
        def f(P, N):
            raise NotImplementedError()
        submit("2.1", dp=..., f=f)
        """,
        tmp_path,
    )
    assert (ran.statuses, ran.code) == (["missing", "missing"], 0)


def test_a_quiz_item(tmp_path: Path) -> None:
    ran = graded('q001 = answer(claim=False, because="a")\nsubmit("q001", q001=q001)', tmp_path, ITEM)
    assert ran.statuses == ["passed", "failed"]
    assert ran.parts[1].misconception == "alpha"


def test_numpy_answers(tmp_path: Path) -> None:
    code = 'import numpy as np\nsubmit("2.1", dp=np.array(112.0), f=lambda P, N: np.float64(16) * P / N)'
    assert graded(code, tmp_path).statuses == ["passed", "passed"]


def test_objects_that_lie_are_judged_by_type(tmp_path: Path) -> None:
    code = """
    import builtins
    class Yes:
        def __eq__(self, other): return True
        def __float__(self): return 112.0
        def __call__(self, P, N): return Yes()
    submit("2.1", dp=Yes(), f=Yes())
    """
    assert graded(code, tmp_path).statuses == ["failed", "failed"]


def test_a_process_that_dies_in_its_function(tmp_path: Path) -> None:
    ran = graded('import os\nsubmit("2.1", dp="112 GB", f=lambda P, N: os._exit(3))', tmp_path)
    assert (ran.statuses, ran.code, ran.heard.ended) == (["passed", "crashed"], 3, "closed")


def test_a_function_that_never_ends_is_stopped_and_the_rest_stands(tmp_path: Path) -> None:
    code = """
    def f(P, N):
        while True: pass
    submit("2.1", f=f, dp="112 GB")
    submit("2.1", dp="1 GB")
    """
    started = time.monotonic()
    ran = graded(code, tmp_path, function_seconds=0.3)
    assert ran.statuses == ["passed", "timeout"]
    assert ran.out == "2.1: recorded\n2.1: recorded already\n"
    assert time.monotonic() - started < 15


def test_a_function_whose_answer_is_too_large(tmp_path: Path) -> None:
    ran = graded('submit("2.1", dp="x" * 10**7, f=lambda P, N: [10**399] * 1999)', tmp_path)
    assert (ran.statuses, ran.code) == (["failed", "failed"], 0)
    many = 'submit("2.1", dp="112 GB", **{f"x{i}": "y" * 1000 for i in range(60)}, f=[["z" * 1000] * 9] * 9)'
    assert graded(many, tmp_path).statuses == ["passed", "failed"]


def test_an_interrupted_talk_does_not_disturb_the_next(tmp_path: Path) -> None:
    code = """
    class Stop(BaseException): pass
    def f(P, N): raise Stop
    try: submit("2.2", dp=1)
    except Stop: pass
    try: submit("2.1", dp="1 GB", f=f)
    except Stop: print("interrupted")
    submit("2.1", dp="112 GB", f=3)
    """
    ran = graded(code, tmp_path, function_seconds=0.2)
    assert ran.out.splitlines()[0] == "2.2: not recorded: this cell is for exercise 2.1"
    assert ran.out.splitlines()[1] == "interrupted"
    assert ran.heard.answers["dp"].data == "1 GB"
    assert ran.code == 0


def test_functions_may_print_and_use_descriptors_and_threads(tmp_path: Path) -> None:
    code = """
    import os, sys, threading
    def f(P, N):
        print("noise"); print("noise", file=sys.stderr); os.write(2, b"noise")
        threading.Thread(target=print).start()
        return 16 * P / N
    submit("2.1", dp="112 GB", f=f)
    """
    assert graded(code, tmp_path).statuses == ["passed", "passed"]


def test_a_judge_that_hangs_up_is_told(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    ours.close()
    with theirs:
        ran = subprocess.run(
            program(RIGHT), env=environment(SHARDLAB_JUDGE_FD=str(theirs.fileno())), pass_fds=[theirs.fileno()],
            cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert ran.returncode == 0
    assert "2.1: not recorded: " in ran.stdout


@pytest.mark.parametrize("number", ["0", "999", "x", "-1"])
def test_a_descriptor_that_is_no_socket_is_told(tmp_path: Path, number: str) -> None:
    ran = alone(RIGHT, tmp_path, SHARDLAB_JUDGE_FD=number)
    assert ran.returncode == 0
    assert "not recorded" in ran.stdout
    assert "is no socket" in ran.stdout


def test_a_child_of_the_kernel_does_not_hold_the_line(tmp_path: Path) -> None:
    code = """
    import subprocess, sys
    submit("2.1", dp="112 GB", f=...)
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1)"], close_fds=False,
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    """
    assert graded(code, tmp_path).statuses == ["passed", "missing"]


# --- on one's own ----------------------------------------------------------------------------------------------------


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    write_instant(tmp_path, KEY, ITEM)
    return tmp_path


def attempts(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "attempts.jsonl").read_text().splitlines()]


def test_right_answers_at_once(notebook: Path) -> None:
    ran = alone(RIGHT, notebook)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout == (
        "2.1\n  ✓ dp  right: Sixteen bytes each.\n  ✓ f   holds on the examples: the judge tries it on other inputs.\n"
    )
    assert attempts(notebook)[0]["said"] == {"dp": "right", "f": "holds"}


def test_wrong_answers_at_once_with_the_misconception(notebook: Path) -> None:
    ran = alone('submit("2.1", dp="28 GB", f=lambda P, N: 1 / 0)', notebook)
    assert ran.returncode == 0
    assert "✗ dp  wrong: “Belief alpha” Refuted alpha. See step alpha." in ran.stdout
    assert (
        "✗ f   wrong: For P = 7000000000, N = 8 it raised ZeroDivisionError: division by zero" in ran.stdout
    )


def test_an_untouched_notebook_runs_to_its_end(notebook: Path) -> None:
    ran = alone(
        """
        dp = ...
        def f(P, N):
            raise NotImplementedError()
        submit("2.1", dp=dp, f=f)
        q001 = answer(claim=..., because=...)
        submit("q001", q001=q001)
        q001 = ...
        submit("q001", q001=q001)
        print("end")
        """,
        notebook,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.count("missing: not answered yet") == 6
    assert ran.stdout.endswith("end\n")


def test_attempts_are_logged_in_order(notebook: Path) -> None:
    alone('submit("2.1", dp="28 GB", f=...)\nsubmit("2.1", dp="112 GB", f=...)', notebook)
    alone('submit("q001", q001=answer(claim=True, because="b"))', notebook)
    logged = attempts(notebook)
    assert [entry["said"] for entry in logged] == [
        {"dp": "wrong", "f": "missing"},
        {"dp": "right", "f": "missing"},
        {"q001/claim": "wrong", "q001/because": "wrong"},
    ]
    assert logged[0]["answers"]["dp"] == "'28 GB'"


def test_a_folder_that_cannot_be_written_is_no_matter(notebook: Path) -> None:
    (notebook / "attempts.jsonl").mkdir()  # root may write anywhere, but not into a folder
    ran = alone(RIGHT, notebook)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "✓ dp  right" in ran.stdout


def test_the_log_stops_growing(notebook: Path) -> None:
    log = notebook / "attempts.jsonl"
    log.write_bytes(b"\n" * (2**20 + 1))
    assert alone(RIGHT, notebook).returncode == 0
    assert log.stat().st_size == 2**20 + 1


def test_no_file_is_told_in_a_sentence(tmp_path: Path) -> None:
    ran = alone('submit("2.1", dp="28 GB", f=...)', tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "2.1: no instant.json beside this notebook, so nothing can be said at once" in ran.stdout
    assert "· dp  not checked here" in ran.stdout
    assert "○ f   missing: not answered yet" in ran.stdout


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"exercises": 3}', "\x00"])
def test_a_damaged_file_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "instant.json").write_text(text)
    ran = alone(RIGHT, tmp_path)
    assert ran.returncode == 0
    assert "instant.json is damaged" in ran.stdout


def test_an_unknown_exercise_is_told(notebook: Path) -> None:
    assert "knows no exercise of this name" in alone('submit("9.9", x=1)', notebook).stdout


# --- nbgrader's Validate ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        'submit("2.1", dp="28 GB", f=lambda P, N: 16 * P / N)',
        'submit("2.1", dp="112 GB", f=lambda P, N: 16 * P)',
        'submit("2.1", dp=..., f=lambda P, N: 16 * P / N)',
        'submit("2.1", dp="3 s", f=lambda P, N: 16 * P / N)',
        'submit("2.1", dp="112 GB")',
    ],
)
def test_validation_raises_for_what_is_wrong_or_missing(notebook: Path, call: str) -> None:
    ran = alone(call, notebook, NBGRADER_VALIDATING="1")
    assert ran.returncode == 1
    assert "WrongAnswer: 2.1" in ran.stderr


def test_validation_passes_for_what_is_right(notebook: Path) -> None:
    ran = alone(RIGHT, notebook, NBGRADER_VALIDATING="1")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert not (notebook / "attempts.jsonl").exists()


def test_validation_without_a_file_raises_only_for_what_is_missing(tmp_path: Path) -> None:
    assert alone('submit("2.1", dp="28 GB")', tmp_path, NBGRADER_VALIDATING="1").returncode == 0
    assert alone('submit("2.1", dp=...)', tmp_path, NBGRADER_VALIDATING="1").returncode == 1


def test_nbgraders_own_validator(notebook: Path) -> None:
    """The Validate button: nbgrader's Validator on a notebook, in a kernel of its own."""
    nbformat = pytest.importorskip("nbformat")
    from nbgrader.validator import Validator

    def validate(dp: str) -> dict[str, Any]:
        check = nbformat.v4.new_code_cell(f'submit("2.1", dp={dp!r}, f=lambda P, N: 16 * P / N)')
        check.metadata["nbgrader"] = {
            "grade": True, "grade_id": "ex-2-1", "locked": True, "points": 4, "schema_version": 3, "solution": False,
            "task": False, "cell_type": "code",
        }  # fmt: skip
        setup = nbformat.v4.new_code_cell("from autograder import submit")
        book = nbformat.v4.new_notebook(cells=[setup, check])
        book.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        path = notebook / "level-2.ipynb"
        nbformat.write(book, path)
        return dict(Validator().validate(str(path)))

    assert validate("112 GB") == {}
    failed = validate("28 GB")["failed"]
    assert "Belief alpha" in failed[0]["error"]


# --- what a notebook shows -------------------------------------------------------------------------------------------


def test_in_a_notebook_one_rich_object_is_shown(notebook: Path) -> None:
    code = """
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.core.displaypub import CapturingDisplayPublisher
    shell = InteractiveShell.instance(display_pub_class=CapturingDisplayPublisher)
    shell.push({"submit": submit})
    shell.run_cell('submit("2.1", dp="<b>28</b> GB", f=...)')
    import json
    print(json.dumps(shell.display_pub.outputs))
    """
    ran = alone(code, notebook)
    (shown,) = json.loads(ran.stdout.splitlines()[-1])
    assert shown["data"].keys() == {"text/plain", "text/html"}
    assert "<b>" not in shown["data"]["text/html"]
    assert "&lt;b&gt;28&lt;/b&gt; GB" in shown["data"]["text/html"]
    assert shown["data"]["text/plain"].startswith("2.1\n  ? dp  cannot be read: '<b>28</b> GB'")


def test_the_client_imports_neither_pint_nor_torch_nor_ipython_until_it_must(tmp_path: Path) -> None:
    ran = alone(
        "import sys; print([m for m in ('pint', 'torch', 'IPython', 'numpy') if m in sys.modules])", tmp_path
    )
    assert ran.stdout == "[]\n"


def test_the_statuses_used_here_exist() -> None:
    assert {"passed", "failed", "missing", "crashed", "timeout"} <= {s.value for s in PartStatus}
