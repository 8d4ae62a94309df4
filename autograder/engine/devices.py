"""The GPUs of this machine, found by NVML; whole ones only are leased."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_TRIAL = "import torch; x = torch.ones(1 << 20, device='cuda'); assert float((x + x).sum()) == float(1 << 21)"
_CONTROL = (
    "/dev/nvidiactl",
    "/dev/nvidia-uvm",
    "/dev/nvidia-uvm-tools",
    "/dev/nvidia-modeset",
    "/dev/nvidia-caps",
)


@dataclass(frozen=True)
class Gpu:
    """One GPU that can be leased. `group`: those with the same are close to each other (a NUMA node); `slice`: it is a
    MIG slice, which NCCL does not join with others; `nodes`: what of /dev a box must show for it.
    """

    uuid: str
    group: int = 0
    slice: bool = False
    nodes: tuple[Path, ...] = ()


def find() -> tuple[Gpu, ...]:
    """The GPUs there are; none where there is no driver, or no `nvidia-ml-py` (the extra `gpu`)."""
    try:
        import pynvml
    except ImportError:
        return ()
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return ()
    try:
        found: list[Gpu] = []
        for index in range(pynvml.nvmlDeviceGetCount()):
            found += _gpus(pynvml, pynvml.nvmlDeviceGetHandleByIndex(index))
        return tuple(found)
    finally:
        pynvml.nvmlShutdown()


def _gpus(nvml: Any, handle: Any) -> list[Gpu]:
    node = Path(f"/dev/nvidia{nvml.nvmlDeviceGetMinorNumber(handle)}")
    nodes = (node, *(Path(name) for name in _CONTROL if Path(name).exists()))
    bus = nvml.nvmlDeviceGetPciInfo(handle).busId
    bus = bus.decode() if isinstance(bus, bytes) else bus
    numa = Path(f"/sys/bus/pci/devices/{bus[-12:].lower()}/numa_node")
    group = int(numa.read_text()) if numa.is_file() else 0
    slices = []
    try:
        if nvml.nvmlDeviceGetMigMode(handle)[0]:
            for number in range(nvml.nvmlDeviceGetMaxMigDeviceCount(handle)):
                slices.append(
                    nvml.nvmlDeviceGetUUID(nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, number))
                )
    except nvml.NVMLError:
        pass  # a GPU without slices says so by this error, and so does the end of their list
    if slices:
        return [Gpu(_text(uuid), group, slice=True, nodes=nodes) for uuid in slices]
    return [Gpu(_text(nvml.nvmlDeviceGetUUID(handle)), group, nodes=nodes)]


def _text(uuid: Any) -> str:
    return uuid.decode() if isinstance(uuid, bytes) else str(uuid)


def healthy(gpu: Gpu) -> bool:
    """Whether a small sum on this GPU comes out right, in a process of its own. Asked after a job on it crashed."""
    try:
        ran = subprocess.run(
            [sys.executable, "-c", _TRIAL], env={"CUDA_VISIBLE_DEVICES": gpu.uuid}, timeout=120, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return ran.returncode == 0


def choose(free: Iterable[Gpu], count: int) -> tuple[Gpu, ...] | None:
    """`count` of the free GPUs, close together and so that as much as can be stays together: the smallest group that
    holds them all, else from the largest groups on. None where there are too few.
    """
    groups: dict[int, list[Gpu]] = {}
    for gpu in free:
        groups.setdefault(gpu.group, []).append(gpu)
    if sum(map(len, groups.values())) < count:
        return None
    enough = [members for members in groups.values() if len(members) >= count]
    if enough:
        return tuple(min(enough, key=len)[:count])
    chosen: list[Gpu] = []
    for members in sorted(groups.values(), key=len, reverse=True):
        chosen += members[: count - len(chosen)]
    return tuple(chosen)
