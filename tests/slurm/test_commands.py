"""What Slurm's commands say when they fail, told apart.

Scripts stand in for the commands and repeat what those of Slurm 22.05 printed; DENIED alone is `scancel`'s sentence in
`scontrol`'s mouth.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.engine.slurm.commands import NotAnswering, Refused, Slurm

UNKNOWN = "slurm_load_jobs error: Invalid job id specified"
MUNGE = (
    "sbatch: error: If munged is up, restart with --num-threads=10\n"
    'sbatch: error: Munge encode failed: Failed to connect to "/run/munge.socket": Permission denied\n'
    "sbatch: error: slurm_send_node_msg: auth_g_create: REQUEST_SUBMIT_BATCH_JOB has authentication error\n"
    "sbatch: error: Batch job submission failed: Protocol authentication error"
)
CONTROLLER = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)"
DENIED = "slurm_load_jobs error: Access/permission denied"
PARTITION = "sbatch: error: Batch job submission failed: Invalid partition name specified"


def _slurm(folder: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> Slurm:
    for name in ("sbatch", "squeue", "scontrol", "scancel"):
        script = folder / name
        script.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{said}\nEND\nexit 1\n")
        script.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    return Slurm()


def test_a_job_is_unknown_only_where_slurm_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _slurm(tmp_path, monkeypatch, UNKNOWN).one("7") is None


@pytest.mark.parametrize("said", [MUNGE, CONTROLLER, DENIED, ""])
def test_a_failure_to_ask_says_nothing_of_a_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    slurm = _slurm(tmp_path, monkeypatch, said)
    with pytest.raises(NotAnswering):
        slurm.one("7")
    with pytest.raises(NotAnswering):
        slurm.all()


@pytest.mark.parametrize("said", [MUNGE, CONTROLLER])
def test_a_job_that_slurm_was_never_asked_about_is_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    slurm = _slurm(tmp_path, monkeypatch, said)
    with pytest.raises(NotAnswering):
        slurm.submit(tmp_path / "job.sh", [])
    with pytest.raises(NotAnswering):
        slurm.cancel(["7"])


def test_a_job_that_slurm_will_not_take_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refused, match="Invalid partition"):
        _slurm(tmp_path, monkeypatch, PARTITION).submit(tmp_path / "job.sh", [])
