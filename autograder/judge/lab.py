"""Judges the cases of a lab: loads its checks.py (judge side), draws inputs, reads what came back, names what is wrong.

checks.py of a lab has
- `given(task, case, seed) -> list[dict]`: the inputs of each rank by name, tensors or plain JSON values
- `judge(task, case, inputs, outputs, trace, memory) -> list[Finding]`: everything wrong with what came back; [] is
  right. `memory` is what was measured of each rank's memory, empty where nothing was
- optionally `explain(task, case, outcome) -> str | None`: the mistake's id behind a case that ended with no outputs
"""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from safetensors import SafetensorError

from autograder.content import Case
from autograder.judge.switch import End, Outcome, Trace
from autograder.judge.switch.dtypes import Bytes

Inputs = dict[str, Any]
HEADER_MOST = 1 << 20
"""Bytes of the list of tensors a rank hands in: a hundred MiB of empty ones would take the judge gigabytes."""


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: in words for the learner, the id of the misconception or lab mistake it shows (None: no
    known one), and for graders what was measured."""

    text: str
    mistake: str | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Other:
    """An output that is neither a tensor nor plain: only its type's name came back."""

    type: str


class ChecksError(RuntimeError):
    """A lab's checks.py is wrong: the author's fault, never the learner's."""


@dataclass(frozen=True)
class Checks:
    """The judge side of one lab."""

    given: Callable[[str, Case, int], list[Inputs]]
    judge: Callable[[str, Case, list[Inputs], list[Inputs], Trace, Mapping[str, Any]], list[Finding]]
    explain: Callable[[str, Case, Outcome], str | None]


def load_checks(folder: Path) -> Checks:
    """The checks.py in a lab's folder. Raises ChecksError."""
    path = folder / "checks.py"
    name = f"autograder_checks_{folder.name}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ChecksError(f"{path}: not there")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    missing = [n for n in ("given", "judge") if not callable(getattr(module, n, None))]
    if missing:
        raise ChecksError(f"{path}: defines no {' and no '.join(missing)}")
    return Checks(module.given, module.judge, getattr(module, "explain", lambda task, case, outcome: None))


def pack(inputs: Inputs) -> tuple[dict[str, Any], Bytes]:
    """Inputs of one rank as the `values` and `tensors` of its first frame, and the payload that goes with it."""
    values = {name: value for name, value in inputs.items() if not isinstance(value, torch.Tensor)}
    given = {name: value.contiguous() for name, value in inputs.items() if isinstance(value, torch.Tensor)}
    described = [
        {"name": name, "dtype": str(t.dtype).removeprefix("torch."), "shape": list(t.shape)}
        for name, t in given.items()
    ]
    parts = [t.view(-1).view(torch.uint8).numpy() for t in given.values()]
    json.dumps(values)  # what is no JSON is the author's mistake: say so here, not in the box
    return {"values": values, "tensors": described}, np.concatenate(parts) if parts else np.empty(0, np.uint8)


def unpack(end: End) -> Inputs | Finding:
    """The outputs a rank handed in with its last word, by name; a Finding where they cannot be read."""
    outputs: Inputs = {}
    for name, value in end.values.items():
        if not isinstance(value, dict) or len(value) != 1:
            return Finding("the outputs cannot be read")
        if "json" in value:
            outputs[name] = value["json"]
        else:
            kind = str(value.get("type"))[:100]
            outputs[name] = Other(kind if kind.isidentifier() else "unknown")
    if int.from_bytes(end.packed[:8], "little") > HEADER_MOST:
        return Finding("the outputs cannot be read: more tensors than a lab hands in")
    try:
        tensors = safetensors.torch.load(end.packed)
    except (SafetensorError, KeyError, ValueError, RuntimeError, TypeError):
        return Finding("the outputs cannot be read: they are no tensors our runner wrote")
    if outputs.keys() & tensors.keys():
        return Finding("the outputs cannot be read: a name stands twice")
    return outputs | tensors


def compare(
    outputs: Sequence[Inputs],
    expected: Sequence[Mapping[str, torch.Tensor]],
    *,
    rel: float = 0.0,
    abs: float = 0.0,
) -> Finding | None:
    """The first way in which outputs (one dict a rank) differ from what is expected: which are there, type, shape,
    dtype, finiteness, and only then values, within `abs + rel · |expected|`. None when nothing differs."""
    for rank, (got, want) in enumerate(zip(outputs, expected, strict=True)):
        if got.keys() != want.keys():
            return Finding(f"rank {rank} handed in {_names(got)}, expected {_names(want)}")
        for name, right in want.items():
            wrong = _differs(got[name], right, rel, abs)
            if wrong:
                return Finding(f"rank {rank}: {name} {wrong}", evidence={"rank": rank, "output": name})
    return None


def _differs(got: Any, right: torch.Tensor, rel: float, absolute: float) -> str | None:
    if not isinstance(got, torch.Tensor):
        return f"is {_type(got)}, expected a tensor"
    if got.shape != right.shape:
        return f"has shape {tuple(got.shape)}, expected {tuple(right.shape)}"
    if got.dtype != right.dtype:
        return f"has dtype {got.dtype}, expected {right.dtype}"
    if right.is_floating_point() and not bool(torch.isfinite(got).all()):
        return "holds values that are not finite"
    wide = (
        torch.complex128
        if right.is_complex()
        else torch.float64
        if right.is_floating_point()
        else right.dtype
    )
    if wide is right.dtype and not right.is_floating_point():
        wrong = got != right
    else:
        difference = (got.to(wide) - right.to(wide)).abs()
        wrong = difference > absolute + rel * right.to(wide).abs()
    count = int(wrong.sum())
    return f"is wrong in {count} of {right.numel()} elements" if count else None


def _names(outputs: Mapping[str, Any]) -> str:
    shown = [repr(name[:40]) for name in sorted(outputs)[:6]]
    return ", ".join(shown) + (" …" if len(outputs) > 6 else "") if shown else "nothing"


def _type(value: Any) -> str:
    name = value.type if isinstance(value, Other) else type(value).__name__
    return "None (nothing was returned)" if name == "NoneType" else f"a value of type {name}"
