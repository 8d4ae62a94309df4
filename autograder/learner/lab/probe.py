"""The probe beside learner code: which phase a rank is in, when it multiplies matrices, and what is alive in memory.

It is advisory: it runs in the learner's process, so the learner can patch it away. What rests on it may take points and
never gives any. What it sees goes to the switch's record as marks, in the order of the rank's calls:

    step    {step}                                   training step `step` begins
    phase   {phase, at: begin|end, step, micro}      forward, backward, reduce or update, of micro-batch `micro`
    matmul  {phase, step, flops}                     a matrix product, as it is issued
    aside   {at: begin|end}                          the lab's own calls, to hand something in
    memory  {phase, step, at: peak|end, total, parameters, gathered, gradients, optimizer, saved, other}: live bytes

Memory is told by storage (see `storages`): each is counted once, in the first class it belongs to of those named above.
"gathered" are outputs of all-gathers, "saved" is what autograd keeps for backward. What lies in numpy, or is made in
another thread, is not seen: that is what a case under a memory limit is for.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_iter

from autograder.learner.lab.storages import Storages, key_of, local

Tell = Callable[[str, Mapping[str, float | str]], None]
CLASSES = ("parameters", "gathered", "gradients", "optimizer", "saved", "other")
_PLAIN = (torch.Tensor, torch.nn.Parameter, FakeTensor)


class Probe(TorchDispatchMode):
    """Watches while it is entered. `tell` gets each mark's name and values. `fake`: fake tensors count like real ones,
    for a world that is simulated."""

    def __init__(self, tell: Tell, *, fake: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call, unused-ignore]
        self._tell = tell
        self._fake = fake
        self._closed = False
        self._storages = Storages()
        self._gathered: set[int] = set()
        self._saved: set[int] = set()
        self._modules: list[torch.nn.Module] = []
        self._optimizers: list[Any] = []
        self._peak: dict[str, int] = {}
        self._where: dict[str, float | str] = {"phase": "", "step": -1}

    # --- what run.py says ---

    def watch(self, module: torch.nn.Module | None = None, optimizer: Any = None) -> None:
        """From now on counts what belongs to this module, this optimizer (anything with a `state` of tensors)."""
        if module is not None:
            self._modules.append(module)
            for tensor in (*module.parameters(), *module.buffers()):
                self._storages.see(local(tensor))
        if optimizer is not None:
            self._optimizers.append(optimizer)

    def step(self, number: int) -> None:
        """Training step `number`, from 0, begins."""
        self._where = {"phase": "", "step": number}
        self._tell("step", {"step": number})

    @contextlib.contextmanager
    def phase(self, name: str, micro: int = 0) -> Iterator[None]:
        """A phase of the present step. At its end its memory is told: the peak inside, and what is left."""
        before = self._where
        self._where = {"phase": name, "step": before["step"]}
        about = {**self._where, "micro": micro}
        self._tell("phase", {**about, "at": "begin"})
        self._peak = self.memory()
        try:
            with torch.autograd.graph.saved_tensors_hooks(self._save, _same):
                yield
        finally:
            left = self.memory()
            peak = left if left["total"] > self._peak["total"] else self._peak
            self._tell("memory", {**self._where, "at": "peak", **peak})
            self._tell("memory", {**self._where, "at": "end", **left})
            self._tell("phase", {**about, "at": "end"})
            self._where = before

    @contextlib.contextmanager
    def closed(self) -> Iterator[None]:
        """What is made and called inside is the lab's own, to hand something in, and does not count."""
        before, self._closed = self._closed, True
        self._tell("aside", {"at": "begin"})
        try:
            yield
        finally:
            self._tell("aside", {"at": "end"})
            self._closed = before

    def memory(self) -> dict[str, int]:
        """Live bytes at this moment, by class and in all."""
        owners = self._owners()
        found = dict.fromkeys(CLASSES, 0)
        for key, size in self._storages.live():
            found[owners.get(key) or self._kind(key)] += size
        return {"total": sum(found.values()), **found}

    def gathered(self, outputs: Sequence[torch.Tensor]) -> None:
        """These tensors are what an all-gather writes."""
        self._gathered.update(self._storages.see(tensor) for tensor in outputs)

    # --- what torch says ---

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if self._closed or (not self._fake and any(issubclass(kind, FakeTensor) for kind in types)):
            return func(*args, **(kwargs or {}))  # DTensor asks fake tensors for shapes: no memory, no work
        if any(kind not in _PLAIN for kind in types):
            return NotImplemented  # a DTensor and the like: what it is made of comes here again
        if func in _PRODUCTS:
            self._tell("matmul", {**self._where, "flops": _flops(args, kwargs or {})})
        made = func(*args, **(kwargs or {}))
        known = len(self._storages._seen)
        for tensor in tree_iter(made):
            if isinstance(tensor, torch.Tensor) and tensor.layout is torch.strided:
                self._storages.see(tensor)
        if self._where["phase"] and len(self._storages._seen) > known:
            self._note_peak()
        return made

    def _note_peak(self) -> None:
        total = sum(size for _, size in self._storages.live())
        if total > self._peak["total"]:
            self._peak = self.memory()

    def _save(self, tensor: torch.Tensor) -> torch.Tensor:
        if type(tensor) in _PLAIN and tensor.layout is torch.strided:
            self._saved.add(self._storages.see(tensor))
        return tensor

    def _kind(self, key: int) -> str:
        if key in self._gathered:
            return "gathered"
        return "saved" if key in self._saved else "other"

    def _owners(self) -> dict[int, str]:
        """Storage → class, for what module and optimizer hold at this moment."""
        found: dict[int, str] = {}
        for optimizer in self._optimizers:
            for tensor in tree_iter(dict(getattr(optimizer, "state", {}))):
                if isinstance(tensor, torch.Tensor):
                    found[key_of(local(tensor))] = "optimizer"
        for module in self._modules:
            for parameter in module.parameters():
                if parameter.grad is not None:
                    found[self._storages.see(local(parameter.grad))] = "gradients"
            for tensor in (*module.parameters(), *module.buffers()):
                key = self._storages.see(local(tensor))
                found[key] = "gathered" if key in self._gathered else "parameters"
        return found


def _same(tensor: torch.Tensor) -> torch.Tensor:
    return tensor


_aten = torch.ops.aten
_PRODUCTS = frozenset(
    {
        _aten.mm.default,
        _aten.addmm.default,
        _aten.bmm.default,
        _aten.baddbmm.default,
        _aten.mv.default,
        _aten.dot.default,
    }
)


def _flops(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> int:
    """2·m·k·n of a product of the last two tensors among the arguments; leading dimensions count as rows."""
    tensors = [arg for arg in args if isinstance(arg, torch.Tensor)]
    left, right = tensors[-2], tensors[-1]
    return 2 * left.numel() * (right.shape[-1] if right.dim() > 1 else 1)


_current = Probe(lambda name, values: None)


def begin(tell: Tell) -> Probe:
    """The probe of this process, anew: its marks go to `tell`."""
    global _current
    _current = Probe(tell)
    return _current


def current() -> Probe:
    """The probe of this process."""
    return _current
