"""One kernel forked from the warm zygote: what it is given, what it says, and that it is a process like a fresh one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from autograder.sandbox import zygote
from autograder.sandbox.kernel import BoxedKernel, Ended, KernelStartError
from tests.notebooks import tiny

SECONDS = 100.0
CHILDREN = """
import multiprocessing, time
def told(number): print('child', number)
made = [multiprocessing.get_context('fork').Process(target=told, args=(n,)) for n in range(2)]
for one in made: one.start()
for one in made: one.join()
time.sleep(1)
"""
NETWORK = """
import socket
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_NETLINK, socket.AF_PACKET, socket.AF_VSOCK):
    try: socket.socket(family, socket.SOCK_RAW if family > 10 else socket.SOCK_STREAM)
    except OSError: continue
    print(family)
"""
OTHERS = """
import os
print(sorted(name for name in os.listdir('/proc') if name.isdigit() and name not in ('1', str(os.getpid()))))
"""
DAEMON = "import subprocess; left = subprocess.Popen(['sleep', '600'], start_new_session=True)"
KILLS = """
import os, signal
for pid in (1, -1):
    try: os.kill(pid, signal.SIGKILL)
    except OSError as error: print(type(error).__name__)
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("handin")
    (folder / "data/deep").mkdir(parents=True)
    (folder / "data/deep/x.csv").write_text("1,2")
    (folder / "json.py").write_text("raise RuntimeError('not the library')")
    return folder


@pytest.fixture(scope="module", params=[True, False], ids=["box", "no box"])
def kernel(request: pytest.FixtureRequest, files: Path) -> Iterator[BoxedKernel]:
    with BoxedKernel(files, memory_mib=1024, sandboxed=request.param) as made:
        yield made


@contextlib.contextmanager
def boxed(memory_mib: int = 1024) -> Iterator[BoxedKernel]:
    with BoxedKernel(None, memory_mib=memory_mib, sandboxed=True) as made:
        yield made


def run(kernel: BoxedKernel, code: str, seconds: float = SECONDS) -> tuple[Ended, str]:
    heard: list[str] = []

    def hear(kind: str, content: dict[str, Any]) -> None:
        if kind == "stream":
            heard.append(content["text"])

    ended = kernel.run(code, seconds=seconds, hear=hear)
    return ended, "".join(heard)


def printed(kernel: BoxedKernel, code: str) -> str:
    ended, text = run(kernel, code)
    assert ended.how == "ok", ended
    return text.replace("\r", "").strip()


def test_the_files_handed_in_lie_in_the_working_folder_and_shadow_only_their_own(kernel: BoxedKernel) -> None:
    assert printed(kernel, "import os; print(sorted(os.listdir()), open('data/deep/x.csv').read())") == (
        "['data', 'json.py'] 1,2"
    )
    assert printed(kernel, "open('data/deep/x.csv', 'a').write('3'); open('mine', 'w').close()") == ""
    assert printed(kernel, "import json; print(json.dumps({}))") == "{}"  # loaded before
    assert printed(kernel, "import sys; print(repr(sys.path[0]), sys.argv)") == "'' ['kernel']"


def test_whatever_writes_on_the_outputs_is_heard(kernel: BoxedKernel) -> None:
    assert printed(kernel, "print('python')") == "python"
    assert (
        printed(kernel, "import os; os.write(1, b'descriptor\\n'); os.system('echo shell')")
        == "descriptor\nshell"
    )
    assert printed(kernel, "import os; os.write(2, b'error')") == "error"
    assert (
        printed(kernel, "import ctypes; c = ctypes.CDLL(None); c.puts(b'from C'); c.fflush(None)") == "from C"
    )
    assert printed(kernel, "!echo magic") == "magic"
    heard = printed(kernel, CHILDREN)
    assert heard.count("child") == 2 and "0" in heard and "1" in heard


def test_nothing_can_be_read_from_the_input(kernel: BoxedKernel) -> None:
    assert printed(kernel, "import os; print(os.read(0, 9))") == "b''"
    assert run(kernel, "input('who? ')")[0].name == "StdinNotImplementedError"


def test_an_endless_cell_is_interrupted_and_the_kernel_goes_on(kernel: BoxedKernel) -> None:
    assert run(kernel, "import time\nkept = 1\nwhile True: time.sleep(0.1)", 1.0)[0] == Ended("timeout")
    assert run(kernel, "import subprocess\nsubprocess.run(['sleep', '600'])", 1.0)[0] == Ended("timeout")
    assert printed(kernel, "print(kept)") == "1"


def test_pictures_are_drawn_inline_and_no_display_is_looked_for(kernel: BoxedKernel) -> None:
    kinds: list[str] = []
    code = "import matplotlib.pyplot as plt; plt.plot([1, 2]); plt.show()"
    ended = kernel.run(
        code, seconds=SECONDS, hear=lambda kind, content: kinds.extend(content.get("data", {}))
    )
    assert ended.how == "ok" and set(kinds) == {"image/png", "text/plain"}
    assert printed(kernel, "import matplotlib; print(matplotlib.get_backend().lower())").endswith("inline")


def test_no_variable_of_ours_is_there(kernel: BoxedKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    names = set(printed(kernel, "import os; print(*sorted(os.environ))").split())
    assert not names & {"JPY_PARENT_PID", "DISPLAY", "SSH_AUTH_SOCK", "VIRTUAL_ENV", "SHELL"}
    assert {name for name in names if name.startswith("SHARDLAB")} == {"SHARDLAB_JUDGE_FD"}


def test_two_forks_draw_differently_and_hash_alike() -> None:
    code = (
        "import random, numpy, uuid; print(random.random(), numpy.random.random(), uuid.uuid4(), hash('x'))"
    )
    drawn = []
    for _ in range(2):
        with boxed() as kernel:
            drawn.append(printed(kernel, code).split())
    one, other = drawn
    assert one[3] == other[3] and not set(one[:3]) & set(other[:3])


def test_a_box_shows_no_network_no_neighbour_and_nothing_of_a_neighbour() -> None:
    with boxed() as kernel, boxed() as neighbour:
        assert printed(kernel, NETWORK) == ""
        assert printed(kernel, OTHERS) == printed(neighbour, OTHERS) == "[]"
        for path in ("/tmp/x", "/dev/shm/x", "x"):
            assert printed(kernel, f"open({path!r}, 'w').close()") == ""
            assert printed(neighbour, f"import os; print(os.path.exists({path!r}))") == "False"
        ids = {printed(one, "import os; print(os.getuid(), os.getgid())") for one in (kernel, neighbour)}
        if os.getuid() == 0:
            assert len(ids) == 2 and "0 0" not in ids
        # a terminal, which `!` makes, is nobody else's
        assert printed(kernel, "import os; mine = os.openpty(); print(os.ttyname(mine[1]))") == "/dev/pts/0"
        assert printed(neighbour, "import os; print(os.listdir('/dev/pts'))") == "['ptmx']"


def test_nothing_is_left_of_a_kernel_that_was_ended(files: Path) -> None:
    with boxed():
        pass  # the zygote stays
    before = tiny.living()
    with boxed() as kernel:
        assert printed(kernel, DAEMON) == ""
        assert tiny.living() > before
    assert tiny.living() == before


def test_a_kernel_that_ends_itself_is_dead_and_others_are_not() -> None:
    with boxed() as neighbour:
        for code in (
            "import os; os._exit(0)",
            "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
            "import ctypes; ctypes.string_at(0)",
        ):
            with boxed() as kernel:
                assert run(kernel, code)[0] == Ended("dead")
                assert not kernel.alive()
        assert printed(neighbour, "print(1)") == "1"


def test_what_watches_over_a_kernel_cannot_be_ended_by_it() -> None:
    with boxed() as kernel, boxed() as neighbour:
        run(kernel, KILLS)
        assert printed(kernel, "print(1)") == "1"
        assert printed(neighbour, "print(1)") == "1"


def test_a_kernel_that_cannot_come_up_says_why() -> None:
    with (
        pytest.raises(KernelStartError, match=r"did not come up|ended before it was up"),
        boxed(memory_mib=1),
    ):
        pass
    with boxed() as kernel:
        assert printed(kernel, "print(1)") == "1"


def test_a_box_that_ends_is_no_fault_of_the_learner_and_is_replaced() -> None:
    with boxed() as kernel:
        zygote.warm("kernel", sandboxed=True).close()
        with pytest.raises(KernelStartError, match="not by its own doing"):
            run(kernel, "print(1)")
    with boxed() as kernel:
        assert printed(kernel, "print(1)") == "1"
