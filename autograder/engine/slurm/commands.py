"""Slurm's own commands, run as a person would run them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from autograder.engine.slurm import states
from autograder.engine.slurm.states import Told

SECONDS = 120.0


class SlurmError(RuntimeError):
    """Slurm cannot be used here; the message says what to do."""


class NotAnswering(RuntimeError):
    """A command could not ask Slurm. That says nothing about any job."""


class Refused(RuntimeError):
    """Slurm answered, and will not take this job."""


_REFUSALS = (
    "invalid",
    "requested node configuration is not available",
    "unrecognized option",
    "not permitted",
    "access denied",
    "permission denied",
    "unable to open file",
)
_UNASKED = ("authentication error", "unable to contact")
"""What stands beside a refusal of munge's or of the network's: Slurm itself was not asked."""
_UNKNOWN = "invalid job id"


class Slurm:
    """The commands, found once. Raises SlurmError where one is not installed."""

    def __init__(self) -> None:
        self._paths: dict[str, str] = {}
        for name in ("sbatch", "squeue", "scontrol", "scancel"):
            path = shutil.which(name)
            if path is None:
                raise SlurmError(
                    f"{name} is not on this machine's PATH: run `shardlab grade --engine slurm` on a machine "
                    "from which jobs are submitted, or use --engine local"
                )
            self._paths[name] = path

    def submit(self, script: Path, options: Sequence[str]) -> str:
        """Submits a script; returns the job's id. Raises Refused, and NotAnswering where nobody knows whether the job
        was taken: look for it by its name before it is submitted again.
        """
        text = self._run("sbatch", "--parsable", *options, str(script))
        number = text.strip().splitlines()[-1].split(";")[0] if text.strip() else ""
        if not number.isdigit():
            raise NotAnswering(f"sbatch answered {text.strip()[:200]!r}, which is no job id")
        return number

    def all(self) -> list[Told]:
        """This user's jobs that Slurm knows of, those included that ended lately. Raises NotAnswering."""
        try:
            said = self._run("squeue", "--me", "--states=all", "--noheader", f"--format={states.FORMAT}")
        except Refused as error:
            raise NotAnswering(f"squeue: {error}") from error
        return states.of_squeue(said)

    def one(self, number: str) -> Told | None:
        """One job; None where Slurm knows of none by this id. Raises NotAnswering."""
        try:
            return states.of_scontrol(self._run("scontrol", "--oneliner", "show", "job", number))
        except Refused as error:
            if _UNKNOWN in str(error).lower():
                return None
            raise NotAnswering(f"scontrol: {error}") from error

    def cancel(self, numbers: Sequence[str]) -> None:
        """Cancels jobs; those that are over stay as they are. Raises NotAnswering."""
        if numbers:
            try:
                self._run("scancel", *numbers)
            except Refused:
                return  # over by now, and not known any more

    def _run(self, name: str, *words: str) -> str:
        try:
            ran = subprocess.run(
                [self._paths[name], *words],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise NotAnswering(f"{name}: {error}") from error
        if ran.returncode:
            whole = " ".join(ran.stderr.split())
            said = whole[-500:] or f"exit code {ran.returncode}"
            lower = whole.lower()
            if any(word in lower for word in _REFUSALS) and not any(word in lower for word in _UNASKED):
                raise Refused(said)
            raise NotAnswering(f"{name}: {said}")
        return ran.stdout
