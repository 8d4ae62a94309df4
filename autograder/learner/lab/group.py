"""The process group whose every call goes to the switch; `torch.distributed` knows it as the backend "switch".

The methods are the ones torch 2.11 to 2.13 call on a process group, under the names of all three (`_allgather_base`
became `all_gather_single`, and so on). Each turns its arguments into one call: `sizes`, `splits` and `takes` are bytes
(of each tensor, for each destination, from each source), `red` is a reduction's name, `root` and `peer` are group
ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.distributed as dist

from autograder.learner.lab.line import Line
from autograder.learner.lab.tensors import name_of, nbytes
from autograder.learner.lab.work import Joined

Tensor = torch.Tensor
Work = dist.Work
BACKEND = "switch"
_ProcessGroup: Any = (
    dist.ProcessGroup
)  # its stubs differ between torch 2.11 and 2.13, and from what Python groups get


def register(line: Line) -> None:
    """Makes `dist.init_process_group("switch", ...)` and `dist.new_group` create groups on this line."""

    def create(options: Any, _: Any) -> SwitchGroup:
        size = options.group_size
        ranks = list(options.global_ranks_in_group) or list(range(size))
        return SwitchGroup(line, options.group_id, options.group_rank, ranks)

    dist.Backend.register_backend(BACKEND, create, extended_api=True, devices=["cpu"])


class SwitchGroup(_ProcessGroup):  # type: ignore[misc, unused-ignore]
    """One group of ranks. Outputs are written, and works done, when the switch has carried a call out."""

    def __init__(self, line: Line, name: str, rank: int, ranks: Sequence[int]) -> None:
        """`ranks` are the global ranks of the group in group order, `rank` is this process's place among them."""
        super().__init__(rank, len(ranks))
        self._line = line
        self._name = name
        self._number = line.declare(name, ranks)
        self._coalescing: list[Work] | None = None

    # --- what torch asks a group about itself ---

    def getBackendName(self) -> str:
        return BACKEND

    def getGroupName(self) -> str:
        return self._name

    def setGroupName(self, name: str) -> None:
        self._name = name

    _set_group_name = setGroupName

    def _set_group_desc(self, desc: str) -> None:
        self._desc = desc

    @property
    def pg_name(self) -> str:
        return self._name

    @property
    def group_name(self) -> str:
        return self._name

    @property
    def _device_types(self) -> list[torch.device]:
        return [torch.device("cpu")]

    def _start_coalescing(self, device: torch.device) -> None:
        self._coalescing = []

    def _end_coalescing(self, device: torch.device) -> Work:
        works, self._coalescing = self._coalescing or [], None
        return Joined(works, [])

    # --- collectives ---

    def allreduce(self, tensors: list[Tensor], opts: Any = None) -> Work:
        if len({tensor.dtype for tensor in tensors}) > 1:
            return Joined([self.allreduce([tensor], opts) for tensor in tensors], tensors)
        return self._call("all_reduce", tensors, tensors, tensors, **_reduction(opts))

    def allreduce_coalesced(self, tensors: list[Tensor], opts: Any = None) -> Work:
        return self.allreduce(tensors, opts)

    def broadcast(self, tensors: list[Tensor], opts: Any = None) -> Work:
        root = _root(opts)
        if root == self.rank():
            return self._call("broadcast", tensors, tensors, [], tensors, root=root)
        return self._call("broadcast", tensors, [], tensors, tensors, root=root)

    def reduce(self, tensors: list[Tensor], opts: Any = None) -> Work:
        root = _root(opts)
        outputs = tensors if root == self.rank() else []
        return self._call("reduce", tensors, tensors, outputs, tensors, root=root, **_reduction(opts))

    def all_gather_single(self, output: Tensor, input: Tensor, opts: Any = None) -> Work:
        return self.all_gather_single_coalesced([output], [input], opts)

    def all_gather_single_coalesced(
        self, outputs: list[Tensor], inputs: list[Tensor], opts: Any = None
    ) -> Work:
        for output, shard in zip(outputs, inputs, strict=True):
            _check_parts("all_gather: output", output, shard, self.size())
        if len({tensor.dtype for tensor in inputs}) > 1:
            pairs = zip(outputs, inputs, strict=True)
            return Joined([self.all_gather_single(o, i, opts) for o, i in pairs], outputs)
        return self._call("all_gather", inputs, inputs, outputs)

    _allgather_base = all_gather_single
    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def allgather(self, outputs: list[list[Tensor]], inputs: list[Tensor], opts: Any = None) -> Work:
        works = [self._gather_list(out, shard) for out, shard in zip(outputs, inputs, strict=True)]
        return works[0] if len(works) == 1 else Joined(works, outputs)

    def allgather_coalesced(
        self, outputs: list[list[Tensor]], inputs: list[Tensor], opts: Any = None
    ) -> Work:
        by_input = [[row[k] for row in outputs] for k in range(len(inputs))]
        return self.allgather(by_input, inputs, opts)

    def _gather_list(self, outputs: list[Tensor], shard: Tensor) -> Work:
        _check_count("all_gather: outputs", outputs, self.size())
        _check_dtypes([shard, *outputs])
        return self._call("all_gather", [shard], [shard], outputs, takes=[nbytes(t) for t in outputs])

    def reduce_scatter_single(self, output: Tensor, input: Tensor, opts: Any = None) -> Work:
        return self.reduce_scatter_single_coalesced([output], [input], opts)

    def reduce_scatter_single_coalesced(
        self, outputs: list[Tensor], inputs: list[Tensor], opts: Any = None
    ) -> Work:
        for output, whole in zip(outputs, inputs, strict=True):
            _check_parts("reduce_scatter: input", whole, output, self.size())
        if len({tensor.dtype for tensor in inputs}) > 1:
            pairs = zip(outputs, inputs, strict=True)
            return Joined([self.reduce_scatter_single(o, i, opts) for o, i in pairs], outputs)
        return self._call("reduce_scatter", inputs, inputs, outputs, **_reduction(opts))

    _reduce_scatter_base = reduce_scatter_single
    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def reduce_scatter(self, outputs: list[Tensor], inputs: list[list[Tensor]], opts: Any = None) -> Work:
        works = []
        for output, pieces in zip(outputs, inputs, strict=True):
            _check_count("reduce_scatter: inputs", pieces, self.size())
            _check_dtypes([output, *pieces])
            splits = [nbytes(piece) for piece in pieces]
            if nbytes(output) != splits[self.rank()]:
                raise ValueError("reduce_scatter: the output and this rank's input piece differ in size")
            whole = _reduction(opts) | {"splits": splits, "sizes": [sum(splits)]}
            works.append(self._call("reduce_scatter", pieces, pieces, [output], **whole))
        return works[0] if len(works) == 1 else Joined(works, outputs)

    def gather(self, outputs: list[list[Tensor]], inputs: list[Tensor], opts: Any = None) -> Work:
        root, shard = _root(opts), inputs[0]
        if root != self.rank():
            return self._call("gather", [shard], [shard], [], [], root=root)
        _check_count("gather: outputs", outputs[0], self.size())
        _check_dtypes([shard, *outputs[0]])
        takes = [nbytes(tensor) for tensor in outputs[0]]
        return self._call("gather", [shard], [shard], outputs[0], root=root, takes=takes)

    def scatter(self, outputs: list[Tensor], inputs: list[list[Tensor]], opts: Any = None) -> Work:
        root = _root(opts)
        if root != self.rank():
            return self._call("scatter", outputs, [], outputs, root=root)
        _check_count("scatter: inputs", inputs[0], self.size())
        _check_dtypes([outputs[0], *inputs[0]])
        splits = [nbytes(tensor) for tensor in inputs[0]]
        return self._call("scatter", outputs, inputs[0], outputs, root=root, splits=splits)

    def alltoall(self, outputs: list[Tensor], inputs: list[Tensor], opts: Any = None) -> Work:
        _check_count("all_to_all: inputs", inputs, self.size())
        _check_count("all_to_all: outputs", outputs, self.size())
        _check_dtypes([*outputs, *inputs])
        ways = {"splits": [nbytes(t) for t in inputs], "takes": [nbytes(t) for t in outputs]}
        return self._call("all_to_all", inputs, inputs, outputs, **ways)

    def all_to_all_single(
        self,
        output: Tensor,
        input: Tensor,
        output_splits: list[int],
        input_splits: list[int],
        opts: Any = None,
    ) -> Work:
        _check_dtypes([output, input])
        ways = {
            "splits": _rows(input, input_splits, self.size()),
            "takes": _rows(output, output_splits, self.size()),
        }
        return self._call("all_to_all", [input], [input], [output], **ways)

    alltoall_base = all_to_all_single

    def barrier(self, opts: Any = None) -> Work:
        return self._call("barrier", [], [], [])

    # --- point to point: `tag` tells messages between the same two ranks apart ---

    def send(self, tensors: list[Tensor], dst: int, tag: int) -> Work:
        return self._call("send", tensors, tensors, [], tensors, peer=dst, tag=tag)

    def recv(self, tensors: list[Tensor], src: int, tag: int) -> Work:
        return self._call("recv", tensors, [], tensors, peer=src, tag=tag)

    def recv_anysource(self, tensors: list[Tensor], tag: int) -> Work:
        return self._call("recv", tensors, [], tensors, peer=None, tag=tag)

    def _call(
        self,
        kind: str,
        measured: list[Tensor],
        inputs: list[Tensor],
        outputs: list[Tensor],
        result: Any = None,
        **more: Any,
    ) -> Work:
        _check_dtypes(measured)
        header = {
            "g": self._number,
            "kind": kind,
            "dtype": name_of(measured[0]) if measured else "uint8",
            "sizes": [nbytes(tensor) for tensor in measured],
            **more,
        }
        if kind == "all_gather" and self._line.on_gather is not None:
            self._line.on_gather(outputs)
        work = self._line.call(header, inputs, outputs, outputs if result is None else result)
        if self._coalescing is not None:
            self._coalescing.append(work)
        return work


def _root(opts: Any) -> int:
    return int(opts.rootRank) if opts is not None else 0


def _reduction(opts: Any) -> dict[str, Any]:
    op = getattr(opts, "reduceOp", opts)
    if op is None:
        return {"red": "SUM"}
    name = str(getattr(op, "op", op)).rpartition(".")[2]
    if name != "PREMUL_SUM":
        return {"red": name}
    factor = op.factor
    return {"red": name, "factor": float(factor.item() if isinstance(factor, Tensor) else factor)}


def _rows(tensor: Tensor, splits: list[int], size: int) -> list[int]:
    """Bytes of the pieces of `tensor` along dimension 0: `splits` rows each, equal pieces when none are given."""
    rows = tensor.shape[0] if tensor.dim() else 1
    if not splits:
        if rows % size:
            raise ValueError(f"all_to_all: {rows} rows do not divide into {size} equal parts")
        splits = [rows // size] * size
    if len(splits) != size or sum(splits) != rows:
        raise ValueError(f"all_to_all: split sizes {list(splits)} do not fit {rows} rows and {size} ranks")
    row = nbytes(tensor) // rows if rows else 0
    return [n * row for n in splits]


def _check_parts(what: str, whole: Tensor, part: Tensor, size: int) -> None:
    _check_dtypes([whole, part])
    if whole.numel() != size * part.numel():
        raise ValueError(f"{what} has {whole.numel()} elements, expected {size} × {part.numel()}")


def _check_count(what: str, tensors: Sequence[Tensor], size: int) -> None:
    if len(tensors) != size:
        raise ValueError(f"{what}: {len(tensors)} tensors for {size} ranks")


def _check_dtypes(tensors: Sequence[Tensor]) -> None:
    if len({tensor.dtype for tensor in tensors}) > 1:
        raise TypeError(f"one call, one dtype, not {sorted({str(tensor.dtype) for tensor in tensors})}")
