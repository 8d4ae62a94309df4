"""Tensors as bytes: views of their memory without a copy where that is possible, and dtype names for the wire."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import torch

NAMES = {
    getattr(torch, name): name
    for name in (
        "float64",
        "float32",
        "float16",
        "bfloat16",
        "int64",
        "int32",
        "int16",
        "int8",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "bool",
        "complex64",
        "complex128",
        "float8_e4m3fn",
        "float8_e5m2",
    )
}
DTYPES = {name: dtype for dtype, name in NAMES.items()}


def nbytes(tensor: torch.Tensor) -> int:
    """Bytes of the elements of `tensor`, strides aside."""
    return tensor.numel() * tensor.element_size()


def name_of(tensor: torch.Tensor) -> str:
    """The wire's name of the tensor's dtype. Raises TypeError for a dtype or device the switch does not carry."""
    if tensor.device.type != "cpu":
        raise TypeError(f"the switch carries tensors on the CPU, not on {tensor.device}")
    if tensor.layout is not torch.strided:
        raise TypeError(f"the switch carries dense tensors, not {tensor.layout}")
    try:
        return NAMES[tensor.dtype]
    except KeyError:
        raise TypeError(f"the switch does not carry {tensor.dtype}") from None


def readable(tensor: torch.Tensor) -> memoryview:
    """The tensor's elements in order, as bytes; a copy only where the tensor is not contiguous (or conjugated)."""
    return _memory(tensor.detach().resolve_conj().resolve_neg().contiguous())


def writable(tensor: torch.Tensor) -> memoryview | None:
    """The tensor's own memory as bytes; None where its elements do not lie in order."""
    if not tensor.is_contiguous() or tensor.is_conj() or tensor.is_neg():
        return None
    return _memory(tensor.detach())


def _memory(tensor: torch.Tensor) -> memoryview:
    """The bytes of a contiguous tensor, which lives as long as they are held. Not by numpy: a storage that numpy has
    seen can never be resized again, and freeing what was gathered is what a sharded layer does."""
    found = (ctypes.c_char * nbytes(tensor)).from_address(tensor.data_ptr())
    found.tensor = tensor  # type: ignore[attr-defined]
    return memoryview(found).cast("B")


def store(data: bytearray, tensor: torch.Tensor) -> None:
    """Copies the elements in `data`, in order, into `tensor`, whatever its strides."""
    if tensor.numel():
        source = torch.frombuffer(data, dtype=tensor.dtype)
        with torch.no_grad():
            tensor.detach().copy_(source.view(tensor.shape))


def unpack(payload: bytearray, described: Sequence[dict[str, object]]) -> list[torch.Tensor]:
    """The tensors laid one after another in `payload`, each described by its `dtype` and `shape`. They own nothing of
    each other's memory."""
    tensors, start = [], 0
    for entry in described:
        shape = [int(n) for n in entry["shape"]]  # type: ignore[attr-defined]
        tensor = torch.empty(shape, dtype=DTYPES[str(entry["dtype"])])
        size = nbytes(tensor)
        store(payload[start : start + size], tensor)
        tensors.append(tensor)
        start += size
    return tensors
