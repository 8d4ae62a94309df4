"""One rank of one case, in a process of its own: joins the group, runs the learner's code, sends its outputs.

Nothing here decides anything: inputs come over the switch's socket, outputs go back over it.
"""

from __future__ import annotations

import contextlib
import errno
import importlib.util
import json
import os
import socket
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

import safetensors.torch
import torch
import torch.distributed as dist
from torch._C._distributed_c10d import FileStore, HashStore

from autograder.learner.box import limits
from autograder.learner.lab import group, probe, tensors
from autograder.learner.lab.line import Line

MAX_TEXT = 2000
OPEN_FILES = 256
"""At once. What lies in pipes is memory that no limit on a process counts."""


def be_rank(sock: socket.socket, run: ModuleType, lab_py: Path) -> None:
    """Runs one rank over `sock` from the first frame to the last word; returns when that is said."""
    line = Line(sock)
    job, payload = line.start()
    limits.apply(int(job["memory"]), files=OPEN_FILES)
    torch.manual_seed(0)
    try:
        _join(line, job)
        groups = {"world": dist.group.WORLD}
        for name, ranks in job["groups"].items():
            made = dist.new_group(ranks)
            groups[name] = made if job["rank"] in ranks else None
        inputs = dict(job["values"])
        described = job["tensors"]
        inputs |= zip([entry["name"] for entry in described], tensors.unpack(payload, described), strict=True)
        del payload  # the tensors are copies, and a memory limit counts both
        probe.begin(line.mark)
        line.on_gather = probe.current().gathered
        outputs = run.run(job["task"], load(lab_py, "lab"), job["rank"], groups, inputs)
        values, packed = pack(outputs)
    except BaseException as error:
        _flush()
        line.end(*describe(error, lab_py))
        return
    _flush()
    line.finish(values, packed)


def _join(line: Line, job: dict[str, Any]) -> None:
    """Joins the world: through the switch, or where the job names a real backend, through that."""
    backend = job.get("backend", group.BACKEND)
    if backend == group.BACKEND:
        group.register(line)
        store: Any = HashStore()
    else:
        store = FileStore(job["store"], int(job["world"]))
    dist.init_process_group(backend, store=store, rank=int(job["rank"]), world_size=int(job["world"]))


def _flush() -> None:
    """What was printed goes out before the last word: after it the judge ends this process."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(
            OSError, ValueError, AttributeError
        ):  # learner code may have closed or replaced it
            stream.flush()


def load(path: Path, name: str) -> ModuleType:
    """Imports the file `path` as the module `name`."""
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def pack(outputs: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Outputs for the way back: what JSON can say as JSON, tensors as safetensors, of anything else its type's name."""
    values: dict[str, Any] = {}
    packed: dict[str, torch.Tensor] = {}
    for name, value in outputs.items():
        if type(value) in (torch.Tensor, torch.nn.Parameter):
            packed[name] = value.detach().resolve_conj().resolve_neg().contiguous().clone()
        elif _is_plain(value):
            values[name] = {"json": value}
        else:
            values[name] = {"type": type(value).__name__}
    return values, safetensors.torch.save(packed)


def _is_plain(value: Any) -> bool:
    if not isinstance(value, (bool, int, float, str, list, dict)):
        return False  # None included: a function that forgot to return is told so by type
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def describe(error: BaseException, lab_py: Path) -> tuple[str, str, int]:
    """How a rank ended, in words for its author, and the line of theirs it ended on (0: none).

    The words hold the error and the learner's own lines of the traceback, innermost last.
    """
    if isinstance(error, SyntaxError) and error.filename == str(lab_py):
        where = f"{lab_py.name}, line {error.lineno}: {(error.text or '').strip()}"
        return "raised", f"{type(error).__name__}: {error.msg}\n  {where}", error.lineno or 0
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == str(lab_py)]
    lines = [f"  {lab_py.name}, line {f.lineno}, in {f.name}: {f.line}" for f in own[-4:]]
    text = "\n".join([f"{type(error).__name__}: {error}".rstrip(": ")[:MAX_TEXT], *lines])
    line = (own[-1].lineno or 0) if own else 0
    if isinstance(error, NotImplementedError) and own and frames[-1].filename == str(lab_py):
        return "missing", text, line
    limit = _limit(error)
    if limit:
        return "limit", f"{limit}: {text}", line
    return "raised", text, line


_LIMITS = {
    errno.ENOMEM: "out of memory",
    errno.EOPNOTSUPP: "new processes are not allowed in a lab",
    errno.ENOSPC: "the disk space of a rank is used up",
    errno.EDQUOT: "the disk space of a rank is used up",
    errno.EFBIG: "a file larger than a rank may write",
}


def _limit(error: BaseException) -> str:
    """Which limit of a rank an error tells of; empty when it tells of none."""
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return "out of memory"
    if isinstance(error, RuntimeError) and "can't start new thread" in str(error):
        return "more threads than a rank may have"
    return _LIMITS.get(error.errno or 0, "") if isinstance(error, OSError) else ""


def redirect(out: int) -> None:
    """What learner code prints goes to the judge's pipe; its input is empty."""
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.close(null)
    os.close(out)
