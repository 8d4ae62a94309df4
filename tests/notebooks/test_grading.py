"""Real kernels in real boxes: what each kind of hand-in is worth. All are graded once, two at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat import NotebookNode

from autograder.content import Course
from autograder.engine.notebook import grade_notebook
from autograder.sandbox import cgroup, zygote
from autograder.verdict import Part, PartStatus, Status, Verdict
from tests.notebooks import tiny

GROUPS = pytest.mark.skipif(
    "memory" not in cgroup.find().parents, reason="no control group for memory can be made here"
)
ALWAYS = """
class Always:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __float__(self): return 1.0
    def __hash__(self): return 1
    def __repr__(self): return "'b'"
"""
TRANSFORMER = """
import ast, sys
class Drop(ast.NodeTransformer):
    def visit_Assert(self, node): return None
    def visit_Raise(self, node): return None
shell = get_ipython()
shell.ast_transformers.append(Drop())
shell.showtraceback = lambda *a, **k: print("2.0")
sys.displayhook = lambda *a: print("6.0")
"""
NOISE = """
import logging, os, sys, warnings
def area(width, height):
    warnings.warn("careful")
    logging.getLogger().error("louder")
    print("to stderr", file=sys.stderr)
    os.system("echo from a child >&2")
    os.write(2, b"from C\\n")
    return width * height
"""
SNOOP = """
import os, pathlib
def look(top, skip):
    for here, folders, files in os.walk(top):
        folders[:] = [f for f in folders if os.path.join(here, f) not in skip]
        yield from (os.path.join(here, f) for f in files)
import sys
skip = {"/proc", "/sys", "/usr", "/etc", "/dev", sys.base_prefix, sys.prefix}
files = list(look("/", skip))
suspects = [f for f in files if f.endswith((".db", ".ipynb", ".toml", ".json")) or "gradebook" in f or "submitted" in f]
secret = "777" + "0000001"
texts = [f for f in files if f.endswith((".py", ".json", ".ipynb", ".txt"))]
def read(f):
    try: return pathlib.Path(f).read_text(errors="replace")
    except OSError: return ""
holding = [f for f in texts if secret in read(f)]
processes = [read(f"/proc/{p}/cmdline") + read(f"/proc/{p}/environ") for p in os.listdir("/proc") if p.isdigit()]
rooms = sorted(os.listdir(os.path.dirname(sys.modules["autograder"].__file__)))
print("SUSPECTS", suspects)
print("HOLDING", holding, sum(secret in p for p in processes))
print("ROOMS", rooms)
import socket
try: socket.create_connection(("127.0.0.1", 22), 1); print("NET open")
except OSError: print("NET closed")
try: open("/usr/x", "w"); print("WROTE")
except OSError: print("READ ONLY")
import autograder
try: import autograder.judge; print("JUDGE")
except ImportError: print("NO JUDGE")
print("FILE", read("notes.txt"), os.path.exists("instant.json"))
"""
SLEEP = f"{98_765}.{os.getpid()}"  # of this test run and no other
DAEMON = f"import subprocess\nsubprocess.Popen(['sleep', '{SLEEP}'], start_new_session=True)"


SHARED = "import mmap\nm = mmap.mmap(-1, 3 << 30)\nfor n in range(0, 3 << 30, 4096): m[n] = 1"
PROCESSES = "import subprocess\nmany = [subprocess.Popen(['sleep', '60']) for _ in range(1000)]"
THREADS = """
import threading, time
for _ in range(1000): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
"""
FORK_BOMB = """
import os
while True:
    try: os.fork()
    except OSError: pass
"""


def _with(notebook: NotebookNode, source: str, before: str = "ans-0-1") -> NotebookNode:
    notebook.cells.insert(tiny.at(notebook, before), nbformat.v4.new_code_cell(source))
    return notebook


def _hand_ins(course: Course) -> dict[str, NotebookNode | bytes]:
    fill = lambda **answers: tiny.filled(course, **answers)  # noqa: E731
    made: dict[str, NotebookNode | bytes] = {
        "right": fill(essay_0_3="my own words"),
        "misconception": fill(ans_0_1="size = '104.3 GB'"),
        "untouched": tiny.released(course),
        "always": fill(
            ans_0_1=ALWAYS + "size = Always()",
            ans_0_1b="area = lambda *a, **k: Always()",
            ans_0_2="pick = Always()",
        ),
        "transformer": _with(fill(ans_0_1="size = '1 GB'", ans_0_2="pick = 'a'"), TRANSFORMER),
        "region": fill(
            ans_0_2="pick = 'a'\n### BEGIN HIDDEN TESTS\nexpect.choice('pick', 'a', among=['a'])\n### END HIDDEN TESTS"
        ),
        "killer": fill(ans_0_2="import os\nos._exit(0)"),
        "killer-in-function": fill(ans_0_1b="import os\ndef area(width, height): os._exit(0)"),
        "quits": _with(fill(), "exit()"),
        "loop": fill(ans_0_2="while True: pass\npick = 'b'"),
        "stubborn": fill(
            ans_0_2="pick = 'b'\nimport signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"
        ),
        "loop-in-function": fill(ans_0_1b="def area(width, height):\n    while True: pass"),
        "noise": fill(ans_0_1b=NOISE),
        "flood": fill(ans_0_1="for n in range(40_000): print('line', n)\nsize = '112 GB'"),
        "exits": _with(_with(fill(), "import sys\nsys.exit(3)"), "name = input('who? ')"),
        "snoop": _with(fill(), SNOOP),
        "daemon": _with(fill(), DAEMON),
        "shadow": _with(fill(), "import random"),
        "memory": fill(ans_0_2="hoard = bytearray(3 << 30)\npick = 'b'"),
        "shared-memory": fill(ans_0_2=f"{SHARED}\npick = 'b'"),
        "processes": fill(ans_0_2=f"{PROCESSES}\npick = 'b'"),
        "threads": fill(ans_0_2=f"{THREADS}\npick = 'b'"),
        "disk": fill(ans_0_2="open('/tmp/full', 'wb').write(bytes(65 << 20))\npick = 'b'"),
        "fork-bomb": fill(ans_0_2=f"{FORK_BOMB}\npick = 'b'"),
        "undefined": fill(ans_0_1="# later"),
        "stops": fill(ans_0_1="size = 112 / 0"),
        "odd-values": fill(
            ans_0_1="size = float('nan')",
            ans_0_1b="def area(width, height): return 10**400",
            ans_0_2="pick = object()",
        ),
        "clobbered": _with(fill(), "submit = print = None", before="ex-0-1"),
        "strays": _with(fill(), "submit('0.1', size='1 GB')", before="ans-0-2"),
        "picture": _with(
            fill(),
            "from IPython.display import *\nimport matplotlib.pyplot as plt\nplt.plot([1, 2]); plt.show()\n"
            "display(HTML('<script>alert(1)</script>'), SVG('<svg onload=\"alert(1)\"/>'), Javascript('alert(1)'))",
        ),
        "empty": b"",
        "nothing-there": b"{}",
    }
    deleted = fill()
    del deleted.cells[tiny.at(deleted, "ex-0-1")]
    made["deleted"] = deleted
    doubled = fill()
    copy_ = nbformat.from_dict(dict(doubled.cells[tiny.at(doubled, "ex-0-2")]))
    copy_["id"], copy_.source = "another", "submit('0.2', pick='b')  # mine"
    copy_.metadata = nbformat.from_dict({"nbgrader": dict(copy_.metadata.nbgrader, points=99)})
    doubled.cells.append(copy_)
    made["doubled"] = doubled
    return made


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, tuple[Verdict, NotebookNode]]]:
    course = tiny.lay_out(tmp_path_factory.mktemp("course") / "c")
    folders = {name: tiny.hand_in(course, name, content) for name, content in _hand_ins(course).items()}
    (folders["shadow"] / "random.py").write_text("raise RuntimeError('not the library')")
    (folders["snoop"] / "notes.txt").write_text("my notes")
    (folders["snoop"] / "instant.json").write_text("{}")
    (folders["snoop"] / "link.txt").symlink_to(course.root / "gradebook.db")
    folders["absent"] = course.root / "submitted/absent/level-0"

    def one(name: str) -> tuple[Verdict, NotebookNode]:
        assignment = course.assignment("level-0")
        return grade_notebook(course, assignment, name, folders[name], sandboxed=True, run="run")

    with ThreadPoolExecutor(2) as pool:
        yield dict(zip(folders, pool.map(one, folders), strict=True))


Graded = dict[str, tuple[Verdict, NotebookNode]]


def _part(graded: Graded, name: str, part: str) -> Part:
    verdict = graded[name][0]
    assert verdict.status is Status.GRADED, verdict.reason
    return next(p for p in verdict.parts if p.id == part)


def _scores(graded: Graded, name: str) -> list[float | None]:
    return [_part(graded, name, part).score for part in ("0.1/size", "0.1/area", "0.2/pick")]


def _printed(graded: Graded, name: str) -> str:
    nodes = [o for cell in graded[name][1].cells for o in cell.get("outputs", [])]
    return "\n".join(
        o.get("text") or str(o.get("data", "")) + "\n".join(o.get("traceback", [])) for o in nodes
    )


FULL = [2.0, 2.0, 2.0]


@pytest.mark.parametrize(
    "name", ["right", "noise", "flood", "exits", "quits", "snoop", "daemon", "shadow", "clobbered", "strays", "picture",
             "deleted"]
)  # fmt: skip
def test_right_answers_keep_full_marks(graded: Graded, name: str) -> None:
    assert _scores(graded, name) == FULL


def test_an_essay_waits_for_a_person(graded: Graded) -> None:
    verdict = graded["right"][0]
    assert _part(graded, "right", "0.3/essay").status is PartStatus.PENDING
    assert verdict.score is None and verdict.max_score == 9
    assert _part(graded, "noise", "0.3/essay").status is PartStatus.MISSING
    assert graded["noise"][0].score == 6


def test_a_misconception_is_named(graded: Graded) -> None:
    part = _part(graded, "misconception", "0.1/size")
    assert (part.score, part.misconception) == (0, "gib-for-gb")
    assert "2^30" in _printed(graded, "misconception")
    assert _scores(graded, "misconception") == [0, 2, 2]


def test_an_untouched_notebook_is_missing_not_wrong(graded: Graded) -> None:
    assert {part.status for part in graded["untouched"][0].parts} == {PartStatus.MISSING}


@pytest.mark.parametrize("name", ["always", "odd-values"])
def test_objects_are_judged_by_value_and_type(graded: Graded, name: str) -> None:
    assert _scores(graded, name) == [0, 0, 0]


def test_transformers_and_hooks_have_no_effect(graded: Graded) -> None:
    assert _scores(graded, "transformer") == [0, 2, 0]


def test_a_region_of_ones_own_is_ignored_and_told(graded: Graded) -> None:
    assert _scores(graded, "region") == [2, 2, 0]
    assert any("hidden-test region" in note for note in graded["region"][0].notes)


def test_a_killed_kernel_costs_that_answer_only(graded: Graded) -> None:
    assert _scores(graded, "killer") == [2, 2, 0]
    assert _part(graded, "killer", "0.2/pick").status is PartStatus.CRASHED
    assert _scores(graded, "killer-in-function") == [2, 0, 2]
    assert _part(graded, "killer-in-function", "0.1/area").status is PartStatus.CRASHED


@pytest.mark.parametrize("name", ["loop", "stubborn"])
def test_an_endless_cell_times_out(graded: Graded, name: str) -> None:
    assert _scores(graded, name)[:2] == [2, 2]
    part = _part(graded, name, "0.2/pick")
    # interrupted, the name may have been set before the loop; killed, the cell is gone with all it did
    assert part.status is PartStatus.TIMEOUT


def test_an_endless_function_times_out_alone(graded: Graded) -> None:
    assert _scores(graded, "loop-in-function") == [2, 0, 2]
    assert _part(graded, "loop-in-function", "0.1/area").status is PartStatus.TIMEOUT


def test_a_flood_is_cut(graded: Graded) -> None:
    printed = _printed(graded, "flood")
    assert "cut here" in printed and len(printed) < 100_000


def test_too_much_memory_is_named(graded: Graded) -> None:
    assert _scores(graded, "memory") == [2, 2, 0]
    assert _part(graded, "memory", "0.2/pick").status is PartStatus.LIMIT


@pytest.mark.parametrize(
    "name, words",
    [
        ("processes", "processes"),
        ("threads", "threads"),
        ("disk", "64 MiB of files"),
        pytest.param("shared-memory", "1024 MiB of memory", marks=GROUPS),
    ],
)
def test_what_there_was_too_much_of_is_named(graded: Graded, name: str, words: str) -> None:
    assert _scores(graded, name) == [2, 2, 0]
    part = _part(graded, name, "0.2/pick")
    assert part.status is PartStatus.LIMIT and words in part.reason


def test_a_fork_bomb_costs_that_answer_only(graded: Graded) -> None:
    """All others are graded beside it, in the same box."""
    assert _scores(graded, "fork-bomb") == [2, 2, 0]
    assert _part(graded, "fork-bomb", "0.2/pick").status in (PartStatus.TIMEOUT, PartStatus.LIMIT)


def test_one_undefined_name_does_not_cost_its_neighbours(graded: Graded) -> None:
    assert _scores(graded, "undefined") == [0, 2, 2]
    assert _part(graded, "undefined", "0.1/size").status is PartStatus.MISSING


def test_an_error_above_is_told(graded: Graded) -> None:
    part = _part(graded, "stops", "0.1/size")
    assert part.status is PartStatus.FAILED and "ZeroDivisionError" in part.reason
    assert _scores(graded, "stops") == [0, 2, 2]


def test_the_box_holds_nothing_to_find(graded: Graded) -> None:
    printed = _printed(graded, "snoop")
    assert "SUSPECTS []" in printed
    assert "HOLDING [] 0" in printed
    assert "ROOMS ['__init__.py', 'learner']" in printed
    for line in ("NET closed", "READ ONLY", "NO JUDGE", "FILE my notes False"):
        assert line in printed
    assert any("link.txt" in note for note in graded["snoop"][0].notes)


def test_a_daemon_is_gone(graded: Graded) -> None:
    assert _scores(graded, "daemon") == FULL
    assert not [p for p in psutil.process_iter(["cmdline"]) if SLEEP in (p.info["cmdline"] or ())]
    # of what we started there are left the warm zygotes: bubblewrap, the first process of its box, and the zygote
    kept = [boxed for (_, boxed), one in zygote._warm.items() if one.alive()]
    assert len(tiny.living()) == sum(3 if boxed else 1 for boxed in kept)


def test_pictures_stay_and_scripts_go(graded: Graded) -> None:
    notebook = graded["picture"][1]
    kinds = {
        kind
        for cell in notebook.cells
        if cell.get("id", "").startswith("handin")
        for output in cell.get("outputs", [])
        for kind in output.get("data", {})
    }
    assert kinds == {"image/png", "text/plain"}


def test_repairs_are_told(graded: Graded) -> None:
    assert any("ex-0-1 was missing: put back" in note for note in graded["deleted"][0].notes)
    notes = graded["doubled"][0].notes
    assert any("ex-0-2 stood twice" in note for note in notes)
    assert graded["doubled"][0].max_score == 9 and _scores(graded, "doubled") == FULL


def test_what_cannot_be_read_has_no_score(graded: Graded) -> None:
    for name in ("empty", "nothing-there"):
        verdict, notebook = graded[name]
        assert (verdict.status, verdict.score, verdict.parts) == (Status.UNGRADABLE, None, ())
        assert verdict.reason and "Not graded" in notebook.cells[0].source
    assert graded["absent"][0].status is Status.ABSENT


def test_the_notebook_written_for_graders_names_the_key_only_there(graded: Graded) -> None:
    for name in ("right", "misconception"):
        for cell in graded[name][1].cells:
            for output in cell.get("outputs", []):
                if "shardlab" not in output.get("metadata", {}):
                    assert "112 GB" not in str(output)


def test_without_a_box_the_scores_are_the_same(tmp_path: Path) -> None:
    course = tiny.lay_out(tmp_path / "c")
    folder = tiny.hand_in(course, "ada", tiny.filled(course, ans_0_1="size = '104.3 GB'"))
    verdict, _ = grade_notebook(course, course.assignment("level-0"), "ada", folder, sandboxed=False, run="r")
    assert (verdict.score, verdict.sandboxed) == (4, False)
