"""What runs the hand-ins as an ordinary user where the tests are root."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.attacks.harness import NOBODY, ROOT

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
SEEN = """
import os, pathlib, sys
folder = pathlib.Path(sys.argv[1])
print(os.getuid(), os.getgid(), os.getgroups(), folder.joinpath("file").read_text())
for path in (folder / "new", folder.parent / "other"):
    try:
        path.write_text("x")
        print("written")
    except OSError:
        print("refused")
print(sorted(path.name for path in folder.parent.iterdir()))
"""


@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_a_folder_in_a_closed_place_is_shown_and_nothing_beside_it(tmp_path: Path, mode: int) -> None:
    top = tmp_path / "home"
    (top / "checkout").mkdir(parents=True)
    (top / "checkout/file").write_text("text")
    (top / "secret").write_text("x")
    for parent in top.parents[:3]:
        parent.chmod(parent.stat().st_mode | 0o755)
    top.chmod(mode)
    helper = [sys.executable, str(ROOT / "tests/attacks/as_user.py"), str(NOBODY)]
    command = [sys.executable, "-c", SEEN, str(top / "checkout")]
    shown = [str(top / "checkout"), sys.base_prefix, sys.prefix]
    ran = subprocess.run(
        [*helper, *shown, "--", *command], capture_output=True, text=True, timeout=60, check=True
    )
    beside = ["checkout", "secret"] if mode == 0o755 else ["checkout"]
    assert ran.stdout.splitlines() == [f"{NOBODY} {NOBODY} [] text", "refused", "refused", str(beside)]
    assert sorted(path.name for path in (top / "checkout").iterdir()) == ["file"]
