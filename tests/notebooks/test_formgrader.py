"""formgrader in a real Jupyter server: its autograde button, and the page a grader reads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.notebooks import tiny
from tests.notebooks.test_nbgrader import CONFIG, SCRIPT

Ask = Callable[..., str]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Asks a server that runs in the course's folder; yields the function (path, method) -> text."""
    home = tmp_path_factory.mktemp("formgrader")
    course = tiny.lay_out(home / "c")
    (course.root / "nbgrader_config.py").write_text(CONFIG)
    tiny.hand_in(course, "ada", tiny.filled(course, essay_0_3=SCRIPT))
    tiny.hand_in(course, "bob", b"no notebook")
    tiny.hand_in(course, "cyd", None)
    options = [
        "--allow-root",
        "--no-browser",
        "--port=0",
        "--IdentityProvider.token=t",
        "--ServerApp.jpserver_extensions={'nbgrader.server_extensions.formgrader': True}",
    ]
    runtime = home / "runtime"
    environment = {**os.environ, "HOME": str(home), "JUPYTER_RUNTIME_DIR": str(runtime)}
    with (home / "log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyter_server", *options],
            cwd=course.root,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
        )
    try:
        address = _address(runtime, server)

        def asked(path: str, method: str = "GET") -> str:
            request = urllib.request.Request(
                f"{address}{path}",
                method=method,
                data=b"" if method == "POST" else None,
                headers={"Authorization": "token t"},
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                text: str = answer.read().decode()
            return text

        yield asked
    finally:
        server.terminate()
        server.wait(30)


def _address(runtime: Path, server: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + 60
    while time.monotonic() < end and server.poll() is None:
        for path in runtime.glob("jpserver-*.json"):
            text = path.read_text()
            if text.endswith("}"):
                return str(json.loads(text)["url"]).rstrip("/")
        time.sleep(0.1)
    raise AssertionError("the server did not come up")


def test_the_autograde_button_and_the_grading_page(ask: Ask) -> None:
    for student in ("ada", "bob", "cyd"):
        answer = json.loads(ask(f"/formgrader/api/submission/level-0/{student}/autograde", "POST"))
        assert answer["success"], answer
    seen = {s["student"]: s for s in json.loads(ask("/formgrader/api/submissions/level-0"))}
    assert seen["ada"]["score"] == 6 and all(
        s["autograded"] and s["needs_manual_grade"] for s in seen.values()
    )
    notebooks = json.loads(ask("/formgrader/api/submitted_notebooks/level-0/level-0"))
    pages = {n["student"]: ask(f"/formgrader/submissions/{n['id']}/") for n in notebooks}
    assert set(pages) == {"ada", "bob", "cyd"}
    assert "<script>fetch" not in pages["ada"] and 'href="java' not in pages["ada"]
    assert "for graders" in pages["ada"] and "<strong>" not in pages["bob"].replace("<strong>Not graded:", "")
