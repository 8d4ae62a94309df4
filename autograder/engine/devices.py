"""The cores, memory and GPUs of this machine, and whether a GPU still works."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from autograder.engine.schedule import Gpu

MiB = 1 << 20
CHECK_SECONDS = 120.0
_CHECK = """
import torch
x = torch.arange(1 << 20, dtype=torch.float64, device="cuda")
assert float((x + x).sum()) == float((1 << 20) * ((1 << 20) - 1)), "it adds up wrongly"
torch.cuda.synchronize()
"""


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0))


def memory_mib() -> int:
    """The memory this process may use, in MiB: the machine's, or what a control group leaves of it."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [total]
    for path in (
        "/sys/fs/cgroup/memory.max",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ):
        with contextlib.suppress(OSError, ValueError):  # no such group, or "max"
            limits.append(int(Path(path).read_text()))
    return min(limits) // MiB


def gpus() -> tuple[Gpu, ...]:
    """The GPUs that NVML shows and CUDA_VISIBLE_DEVICES allows; none where there is no driver. A GPU that is cut in
    slices counts by its slices. Needs the extra `gpu`; without it there are none.
    """
    try:
        import pynvml
    except ImportError:
        return ()
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return ()  # no driver, no GPU
    try:
        found = list(_found(pynvml))
    finally:
        pynvml.nvmlShutdown()
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    return tuple(gpu for _, gpu in (found if visible is None else _visible(found, visible)))


def _found(nvml: Any) -> Iterator[tuple[int, Gpu]]:
    """Every GPU or slice with the number of its GPU. Slices of one GPU are a group, as are GPUs of one NUMA node."""
    for number in range(nvml.nvmlDeviceGetCount()):
        handle = nvml.nvmlDeviceGetHandleByIndex(number)
        name = _text(nvml.nvmlDeviceGetName(handle))
        whole = _text(nvml.nvmlDeviceGetUUID(handle))
        slices = _slices(nvml, handle)
        for one in slices:
            yield number, Gpu(_text(nvml.nvmlDeviceGetUUID(one)), whole, f"slice of {name}")
        if not slices:
            yield number, Gpu(whole, _node(nvml, handle), name)


def _slices(nvml: Any, handle: Any) -> list[Any]:
    try:
        current, _ = nvml.nvmlDeviceGetMigMode(handle)
    except nvml.NVMLError:
        return []  # a GPU that cannot be cut
    if current != nvml.NVML_DEVICE_MIG_ENABLE:
        return []
    made = []
    for index in range(nvml.nvmlDeviceGetMaxMigDeviceCount(handle)):
        with contextlib.suppress(nvml.NVMLError):  # a place that holds no slice
            made.append(nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index))
    return made


def _node(nvml: Any, handle: Any) -> str:
    """The NUMA node a GPU hangs on, by its PCI address."""
    bus = _text(nvml.nvmlDeviceGetPciInfo(handle).busId).lower()
    place = Path("/sys/bus/pci/devices") / bus[-12:] / "numa_node"
    with contextlib.suppress(OSError):
        return f"node {max(0, int(place.read_text()))}"
    return ""


def _visible(found: list[tuple[int, Gpu]], visible: str) -> list[tuple[int, Gpu]]:
    """What a CUDA_VISIBLE_DEVICES leaves: numbers, or the beginnings of ids."""
    wanted = [word.strip() for word in visible.split(",") if word.strip()]
    return [
        (number, gpu)
        for number, gpu in found
        if any(w == str(number) or (not w.isdigit() and gpu.id.startswith(w)) for w in wanted)
    ]


def check(gpu: Gpu) -> str:
    """What is wrong with a GPU, found by a small computation in a process of its own; empty when it works."""
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": gpu.id}
    try:
        ran = subprocess.run(
            [sys.executable, "-c", _CHECK],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=CHECK_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"a small computation took more than {CHECK_SECONDS:g} s"
    if ran.returncode == 0:
        return ""
    said = ran.stderr.strip().splitlines()
    return said[-1][:300] if said else f"a small computation ended with status {ran.returncode}"


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value
