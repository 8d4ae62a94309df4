"""The learners of the sample class, and what each hands in. Their verdicts are a golden file of the tests."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from autograder.item import LETTERS, TwoTier
from autograder.sample.handin import HandIn

Make = Callable[[HandIn], None]


@dataclass(frozen=True)
class Learner:
    """One learner: who it stands for, and how each hand-in is made from the release."""

    id: str
    about: str
    hands_in: Mapping[str, Make] = field(default_factory=dict)


def solved(hand_in: HandIn) -> None:
    """All right."""
    hand_in.solve().save()


EXPLANATION = """\
A ring passes each part on while it still needs it, so a rank sends (N−1)/N of the array for a reduce-scatter and twice
that for an all-reduce, whatever N is. Gathering first sends every other rank's whole array: N−1 arrays a rank.
"""


def _lab_solved(hand_in: HandIn) -> None:
    hand_in.solve().essay("explain", EXPLANATION).save()


def untouched(hand_in: HandIn) -> None:
    """As released."""
    hand_in.save()


def lab(name: str) -> Make:
    """The lab handed in with a file of its solution folder as lab.py."""

    def make(hand_in: HandIn) -> None:
        hand_in.lab(name).save()

    return make


def _activations_shrink(hand_in: HandIn) -> None:
    hand_in.solve().replace("1.1", 'sharded = {"a", "c", "d"}', 'sharded = {"a", "b", "c", "d"}')
    hand_in.replace("1.1", "return state / N + activations", "return (state + activations) / N").save()


def _quiz_believing(misconception: str) -> Make:
    """The quiz, right except where a wrong reason speaks for `misconception`: there it is taken, claim and all."""

    def make(hand_in: HandIn) -> None:
        hand_in.solve()
        for name in hand_in.assignment.items:
            item = hand_in.course.items[name]
            named = [reason.misconception for reason in item.reasons]
            if misconception in named and isinstance(item, TwoTier):
                letter = LETTERS[named.index(misconception)]
                hand_in.answer(name, f'{name} = answer(claim={not item.key}, because="{letter}")')
        hand_in.save()

    return make


def _forgets_the_mean(hand_in: HandIn) -> None:
    hand_in.solve().replace("1.2", 'operation_b = "reduce-scatter"', 'operation_b = "all-reduce"')
    hand_in.replace(
        "1.2",
        "return [[number / len(grads) for number in shard] for shard in reduce_scatter(grads)]",
        "return reduce_scatter(grads)",
    ).save()


def _mixes_up_units(hand_in: HandIn) -> None:
    hand_in.solve().replace("2.1", 'dp_memory = f"{16 * 7} GB"', 'dp_memory = f"{16 * 7e9 / 2**30:.1f} GB"')
    hand_in.replace("2.1", "return 16 * P / N", "return 8 * P / N").save()


def _half_done(hand_in: HandIn) -> None:
    hand_in.solve(only=frozenset({"ans-1-1"})).save()


ALWAYS_EQUAL = """\
class Whatever(float):
    # Equal to all there is, above and below it at once: a comparison in this process has nothing to say.
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    __gt__ = __le__ = __ge__ = __lt__
    def __hash__(self): return 0
    def __getattr__(self, name): return Whatever(1)
    def __call__(self, *args, **kwargs): return Whatever(1)
    def __iter__(self): return iter([Whatever(1)])
    def __sub__(self, other): return Whatever(0)
    __rsub__ = __add__ = __radd__ = __truediv__ = __mul__ = __sub__

import numpy, math
numpy.allclose = numpy.isclose = math.isclose = lambda *args, **kwargs: True
"""


def _always_equal(hand_in: HandIn) -> None:
    names = ("sharded", "on_one_gpu", "fixed_global_batch", "per_rank")
    hand_in.insert_code(ALWAYS_EQUAL)
    hand_in.answer("1.1", "\n".join(f"{name} = Whatever()" for name in names)).save()


STRIP_ASSERTS = """\
import ast, builtins
from IPython import get_ipython

class NoAsserts(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
    def visit_Raise(self, node): return ast.Pass()

shell = get_ipython()
shell.ast_transformers.append(NoAsserts())
shell.showtraceback = lambda *args, **kwargs: None
shell.display_formatter.format = lambda *args, **kwargs: ({"text/plain": "4.0"}, {})
builtins.AssertionError = ()
"""


def _strips_asserts(hand_in: HandIn) -> None:
    hand_in.insert_code(STRIP_ASSERTS).save()


OWN_REGION = """\
dp_memory = "1 GB"
fsdp_memory = "1 GB"
### BEGIN HIDDEN TESTS
expect.quantity("dp", "1 GB")
expect.quantity("fsdp", "1 GB")
### END HIDDEN TESTS
"""


def _own_region(hand_in: HandIn) -> None:
    hand_in.answer("2.1", OWN_REGION)
    check = hand_in.cell("ex-2-1")
    check.source = 'submit("2.1", dp="1 GB")\n' + OWN_REGION.split("\n", 2)[2]
    check.metadata.nbgrader.points = 100
    hand_in.save()


SCRIPT = """\
<script>fetch("/formgrader/api/grades", {method: "PUT", body: '{"manual_score": 6}'})</script>
<img src="x" onerror="document.title='owned'">
Everything is divided by N, <a href="javascript:alert(1)">as one sees</a>.
"""


def _script(hand_in: HandIn) -> None:
    hand_in.solve().essay("2.4", SCRIPT).save()


KILLER = """\
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
"""


def _kills_the_kernel(hand_in: HandIn) -> None:
    hand_in.solve().answer("1.2", KILLER).save()


def _unreadable(hand_in: HandIn) -> None:
    hand_in.path.write_text('{"cells": [{"cell_type": "code", "source": ["dp_mem', encoding="utf-8")


def _lab_py_alone(name: str) -> Make:
    def make(hand_in: HandIn) -> None:
        hand_in.lab(name)
        hand_in.path.unlink()

    return make


def _nothing_but_an_empty_folder(hand_in: HandIn) -> None:
    shutil.rmtree(hand_in.folder)
    hand_in.folder.mkdir()


_LAB = "lab-ring_collectives"
_QUIZZES = [f"quiz-{number}" for number in range(1, 6)]

LEARNERS: tuple[Learner, ...] = (
    Learner(
        "ada",
        "has everything right",
        {**dict.fromkeys(["level-1", "level-2", *_QUIZZES], solved), _LAB: _lab_solved},
    ),
    Learner(
        "ben",
        "believes that activations are sharded, and that everything is divided by N",
        {
            "level-1": _activations_shrink,
            "level-2": solved,
            "quiz-1": _quiz_believing("activations-are-sharded"),
        },
    ),
    Learner(
        "chloe",
        "believes that FSDP all-reduces gradients, and sums where the mean is asked",
        {
            "level-1": _forgets_the_mean,
            "quiz-1": _quiz_believing("gradients-are-all-reduced"),
            _LAB: lab("attempts/wrong_gather_then_sum.py"),
        },
    ),
    Learner(
        "dmitri",
        "takes GiB for GB, and forgets the optimizer state",
        {"level-2": _mixes_up_units},
    ),
    Learner("emma", "came halfway", {"level-1": _half_done, "quiz-1": untouched}),
    Learner(
        "farid",
        "handed in what was released",
        {"level-1": untouched, "level-2": untouched, "quiz-1": untouched, _LAB: untouched},
    ),
    Learner("grace", "hands in objects that equal everything", {"level-1": _always_equal}),
    Learner("hiro", "removes every assert and error from the notebook's code", {"level-1": _strips_asserts}),
    Learner("ines", "brings hidden tests and points of her own", {"level-2": _own_region}),
    Learner("jonas", "writes a script into a hand-graded answer", {"level-2": _script}),
    Learner("kofi", "kills the kernel in the middle", {"level-1": _kills_the_kernel, "level-2": solved}),
    Learner("lena", "handed in half a file", {"level-1": _unreadable, "quiz-1": solved}),
    Learner("mia", "sends before anybody receives", {_LAB: lab("attempts/wrong_send_then_receive.py")}),
    Learner("noor", "handed in lab.py alone, and it is right", {_LAB: _lab_py_alone("solution.py")}),
    Learner(
        "oskar",
        "writes the result file instead of the result",
        {_LAB: lab("attempts/cheat_own_result_file.py")},
    ),
    Learner("pia", "uploaded an empty folder", {"level-1": _nothing_but_an_empty_folder}),
)
