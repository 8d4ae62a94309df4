"""A Slurm of our own on this one machine: munge, a controller and two nodes, started and ended by their process ids."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import time
from pathlib import Path

GPUS = 4
"""Made up; all on the first node."""
MEMORY_MIB = 6000
_COMMANDS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel")


def missing() -> str:
    """Why there can be no private Slurm here; empty where there can."""
    if os.geteuid() != 0:
        return "a private Slurm is started by root only"
    lacking = [name for name in _COMMANDS if _find(name) is None]
    return f"{', '.join(lacking)} not installed (Debian: slurm-wlm munge)" if lacking else ""


def _find(name: str) -> str | None:
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as open_ones:
        ports = []
        for _ in range(count):
            one = open_ones.enter_context(socket.socket())
            one.bind(("127.0.0.1", 0))
            ports.append(one.getsockname()[1])
        return ports


class Cluster:
    """Everything lies in a folder of its own. A context manager."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-"))
        self.conf = self.folder / "slurm.conf"
        self.nodes = tuple(f"shardlab{os.getpid()}-{name}" for name in ("one", "two"))
        self.daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._configure()

    def __enter__(self) -> Cluster:
        try:
            self.start("munged")
            self._until(lambda: (self.folder / "munge.socket").exists(), "munged")
            for name in ("slurmctld", *self.nodes):
                self.start(name)
            self.until_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(subprocess.SubprocessError, OSError):
            subprocess.run(
                ["scancel", "--user=root"], env=self.env(), timeout=10, check=False, capture_output=True
            )
        end = time.monotonic() + 15
        while self._steps() and time.monotonic() < end:
            time.sleep(0.2)
        for name in reversed(list(self.daemons)):
            self.kill(name, signal.SIGTERM)
        for pid in self._steps():  # what a killed slurmd left
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for node in self.nodes:
            for top in Path("/sys/fs/cgroup").glob(f"*/slurm_{node}"):
                for inner in sorted(top.rglob("*/"), reverse=True):
                    inner.rmdir()
                top.rmdir()
        shutil.rmtree(self.folder, ignore_errors=True)

    def env(self) -> dict[str, str]:
        """The environment in which Slurm's commands talk to this cluster."""
        return {**os.environ, "SLURM_CONF": str(self.conf)}

    def ask(self, *words: str) -> str:
        """What a command of Slurm's says; raises where it fails."""
        return subprocess.run(
            words, env=self.env(), check=True, capture_output=True, text=True, timeout=60
        ).stdout

    def start(self, name: str) -> None:
        """Starts one daemon: munged, slurmctld or a node."""
        f = self.folder
        words = {
            "munged": [
                *("munged", "-F", "--force", f"--socket={f}/munge.socket", f"--key-file={f}/munge.key"),
                *(f"--pid-file={f}/munge.pid", f"--log-file={f}/munge.log", f"--seed-file={f}/munge.seed"),
            ],
            "slurmctld": ["slurmctld", "-D", "-i", "-f", str(self.conf)],
        }.get(name, ["slurmd", "-D", "-N", name, "-f", str(self.conf)])
        path = _find(words[0])
        assert path is not None
        with (f / f"{name}.out").open("ab") as out:
            self.daemons[name] = subprocess.Popen(
                [path, *words[1:]], env=self.env(), stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )

    def kill(self, name: str, how: int = signal.SIGKILL) -> None:
        """Ends one daemon and waits for it."""
        process = self.daemons.pop(name)
        process.send_signal(how)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def until_ready(self) -> None:
        """Waits until both nodes take jobs."""

        def ready() -> bool:
            try:
                said = self.ask("sinfo", "--noheader", "--Node", "--format=%N %t")
            except subprocess.CalledProcessError:
                return False
            states = dict(line.split() for line in said.splitlines())
            for node in self.nodes:
                if states.get(node, "").startswith(("down", "drain")):
                    # refused where the node has come back by itself meanwhile
                    subprocess.run(
                        ["scontrol", "update", f"NodeName={node}", "State=RESUME"],
                        env=self.env(),
                        check=False,
                        capture_output=True,
                        timeout=60,
                    )
            return all(states.get(node) in ("idle", "mix", "alloc", "comp") for node in self.nodes)

        self._until(ready, "the nodes")

    def _until(self, true: object, what: str) -> None:
        end = time.monotonic() + 90
        while not true():  # type: ignore[operator]
            if time.monotonic() > end:
                logs = "".join(p.read_text(errors="replace")[-2000:] for p in self.folder.glob("*.out"))
                raise TimeoutError(f"{what} did not come up:\n{logs}")
            time.sleep(0.2)

    def _steps(self) -> list[int]:
        """The ids of this cluster's slurmstepd processes: each names a node of ours and has our configuration."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                with contextlib.suppress(OSError):
                    words = (entry / "cmdline").read_bytes()
                    environment = (entry / "environ").read_bytes()
                    if b"slurmstepd" in words and str(self.folder).encode() in environment + words:
                        found.append(int(entry.name))
        return found

    def _configure(self) -> None:
        f, host = self.folder, socket.gethostname().split(".")[0]
        f.chmod(0o755)
        key = f / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
        for number in range(GPUS):  # slurmd takes device files only: these are all /dev/null
            os.mknod(f / f"nvidia{number}", 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        for name in ("state", *(f"spool-{node}" for node in self.nodes)):
            (f / name).mkdir()
        control, *ports = _free_ports(3)
        nodes = "\n".join(
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=4 RealMemory={MEMORY_MIB}"
            + (f" Gres=gpu:{GPUS}" if name == self.nodes[0] else "")
            for name, port in zip(self.nodes, ports, strict=True)
        )
        (f / "gres.conf").write_text(f"NodeName={self.nodes[0]} Name=gpu File={f}/nvidia[0-{GPUS - 1}]\n")
        (f / "cgroup.conf").write_text(
            "CgroupPlugin=autodetect\nConstrainRAMSpace=yes\nConstrainSwapSpace=no\n"
        )
        self.conf.write_text(
            f"""ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={control}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={f}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={f}/state
SlurmdSpoolDir={f}/spool-%n
SlurmctldPidFile={f}/slurmctld.pid
SlurmdPidFile={f}/slurmd-%n.pid
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=1,sched_interval=5
SlurmdParameters=config_overrides
GresTypes=gpu
ReturnToService=2
SlurmdTimeout=15
SlurmctldTimeout=30
KillWait=3
MinJobAge=600
MessageTimeout=20
MailProg=/bin/true
{nodes}
PartitionName=all Nodes={",".join(self.nodes)} Default=YES MaxTime=INFINITE State=UP
"""
        )
