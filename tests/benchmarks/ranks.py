"""How fast the ranks of a lab start and talk, beside torch's own ways. Not a test.

    python -m tests.benchmarks.ranks [start] [switch] [ring]

- `start`: four ranks that all-reduce once, in boxes forked from the warm zygote, against `torch.multiprocessing.spawn`
- `switch`: collectives of 16 MiB on four ranks through the switch, against gloo on the same ranks
- `ring`: the reference solution of ring_collectives on 64 MiB and four ranks, on gloo, against gloo's own collectives

The two sides take turns in one run, so that a busy machine slows both; medians are told, and their ratio.
"""

from __future__ import annotations

import importlib.util
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from autograder.judge.lab import pack, unpack
from autograder.judge.switch import Rules
from autograder.sandbox.ranks import Greeting, Place, RankBox

WORLD = 4
MiB = 1 << 20
ROOT = Path(__file__).resolve().parents[2]
RUN = "def run(task, lab, rank, groups, inputs):\n    return getattr(lab, task)(rank)\n"


def once(rank: int) -> dict[str, torch.Tensor]:
    """What a short check does: one all-reduce."""
    x = torch.full((1000,), float(rank))
    dist.all_reduce(x)
    return {"x": x}


def collectives(rank: int) -> dict[str, torch.Tensor]:
    """Median seconds of each collective on 16 MiB, after one that is not counted."""
    whole = torch.ones(16 * MiB // 4)
    part = torch.ones(whole.numel() // dist.get_world_size())
    gather = getattr(dist, "all_gather_single", dist.all_gather_into_tensor)
    scatter = getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)
    return timed(
        {
            "all_reduce": lambda: dist.all_reduce(whole),
            "all_gather": lambda: gather(whole, part),
            "reduce_scatter": lambda: scatter(part, whole),
        }
    )


def rings(rank: int) -> dict[str, torch.Tensor]:
    """Median seconds of the reference rings on 64 MiB and of gloo's own collectives, in turns; and of what bounds a
    ring: its N − 1 exchanges between neighbours alone, into memory that is there."""
    ring = load(ROOT / "solutions/gpu_labs/ring_collectives/solution.py")
    whole, group = torch.ones(64 * MiB // 4), dist.group.WORLD
    part = torch.ones(whole.numel() // dist.get_world_size())
    copies = [torch.empty_like(part) for _ in range(dist.get_world_size())]
    pieces = list(whole.chunk(dist.get_world_size()))

    def exchanges() -> None:
        for _ in range(dist.get_world_size() - 1):
            ring.exchange(part, copies[0], group)

    return timed(
        {
            "exchanges": exchanges,
            "all_reduce": lambda: dist.all_reduce(whole.clone()),
            "ring_all_reduce": lambda: ring.ring_all_reduce(whole, group),
            "all_gather": lambda: dist.all_gather(copies, part),
            "ring_all_gather": lambda: ring.ring_all_gather(part, group),
            "reduce_scatter": lambda: dist.reduce_scatter(part, pieces),
            "ring_reduce_scatter": lambda: ring.ring_reduce_scatter(whole, group),
        }
    )


def timed(calls: dict[str, Callable[[], Any]], times: int = 5) -> dict[str, torch.Tensor]:
    """Runs the calls in turns; each begins when all ranks are there."""
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    for turn in range(times + 1):
        for name, call in calls.items():
            dist.barrier()
            begun = time.perf_counter()
            call()
            dist.barrier()
            if turn:
                seconds[name].append(time.perf_counter() - begun)
    return {name: torch.tensor(statistics.median(found)) for name, found in seconds.items()}


def load(path: Path) -> ModuleType:
    """The module in a file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# --- the two sides ---


def on_switch(box: RankBox, task: str, seconds: float = 120.0) -> dict[str, float]:
    """Runs a function of this file on four boxed ranks through the switch; what rank 0 measured."""
    head, payload = pack({})
    about = {"op": "start", "task": task, "world": WORLD, "memory": 0, "groups": {}}
    greetings = [Greeting({**about, "rank": rank, **head}, payload) for rank in range(WORLD)]
    ran = box.run(greetings, Rules(), seconds, Place("rank"))
    found = unpack(ran.outcome.ends[0])
    assert isinstance(found, dict) and found, (ran.outcome.text, ran.outcome.ends, ran.printed)
    return {name: float(value.reshape(-1)[0]) for name, value in found.items()}


def on_gloo(task: str) -> dict[str, float]:
    """The same by `torch.multiprocessing.spawn` and gloo."""
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(_spawned, (task, folder), nprocs=WORLD)
        return {k: float(v.reshape(-1)[0]) for k, v in torch.load(f"{folder}/out", weights_only=True).items()}


def _spawned(rank: int, task: str, folder: str) -> None:
    torch.set_num_threads(1)
    store = dist.FileStore(f"{folder}/store", WORLD)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=WORLD)
    found = globals()[task](rank)
    if rank == 0:
        torch.save(found, f"{folder}/out")
    dist.barrier()
    dist.destroy_process_group()


def _lab_files(folder: Path) -> tuple[Path, Path]:
    (folder / "run.py").write_text(RUN, encoding="utf-8")
    (folder / "lab.py").write_text(
        Path(__file__).read_text(encoding="utf-8").split("# --- the two")[0], "utf-8"
    )
    text = (folder / "lab.py").read_text(encoding="utf-8")
    kept = [line for line in text.splitlines() if not line.startswith(("from autograder", "ROOT"))]
    (folder / "lab.py").write_text("\n".join(kept) + "\n", encoding="utf-8")
    return folder / "run.py", folder / "lab.py"


def main(parts: list[str]) -> None:
    """Prints each part's medians and ratios."""
    with tempfile.TemporaryDirectory() as name, RankBox(*_lab_files(Path(name))) as box:
        if "start" in parts:
            on_switch(box, "once")
            both = [
                (_seconds(lambda: on_switch(box, "once")), _seconds(lambda: on_gloo("once")))
                for _ in range(5)
            ]
            warm, cold = (statistics.median(column) for column in zip(*both, strict=True))
            print(f"start of {WORLD} ranks: warm {warm:.3f} s, spawn {cold:.3f} s, ratio {cold / warm:.1f}")
        if "switch" in parts:
            turns = [(on_switch(box, "collectives"), on_gloo("collectives")) for _ in range(3)]
            for kind in turns[0][0]:
                ours, gloo = (statistics.median(turn[side][kind] for turn in turns) for side in (0, 1))
                print(f"{kind} of 16 MiB: switch {ours:.3f} s, gloo {gloo:.3f} s, ratio {ours / gloo:.1f}")
    if "ring" in parts:
        found = on_gloo("rings")
        print(f"{WORLD - 1} exchanges of 16 MiB between neighbours, alone: {found['exchanges']:.3f} s")
        for kind in ("all_reduce", "all_gather", "reduce_scatter"):
            own, ring = found[kind], found[f"ring_{kind}"]
            print(f"{kind} of 64 MiB: ring {ring:.3f} s, gloo's {own:.3f} s, gloo's / ring {own / ring:.2f}")


def _seconds(run: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main(sys.argv[1:] or ["start", "switch", "ring"])
