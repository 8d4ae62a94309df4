"""Reductions over ranks, in rank order, so that the same inputs give the same bits every time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograder.judge.switch.dtypes import LOW_PRECISION, OPAQUE, Array, Bytes, dump, load
from autograder.judge.switch.fault import Fault

_UFUNCS: dict[str, np.ufunc] = {
    "SUM": np.add,
    "AVG": np.add,
    "PREMUL_SUM": np.add,
    "PRODUCT": np.multiply,
    "MIN": np.minimum,
    "MAX": np.maximum,
    "BAND": np.bitwise_and,
    "BOR": np.bitwise_or,
    "BXOR": np.bitwise_xor,
}
REDUCTIONS = frozenset(_UFUNCS)
_BITWISE = frozenset({"BAND", "BOR", "BXOR"})
_FLOATS = frozenset({"float64", "float32", "complex64", "complex128"}) | LOW_PRECISION


def check(red: str, dtype: str) -> None:
    """Raises Fault where the reduction `red` means nothing for `dtype`."""
    if dtype in OPAQUE:
        raise Fault(f"{dtype} cannot be reduced")
    if red in _BITWISE and dtype in _FLOATS:
        raise Fault(f"{red} is for integers and bools, not {dtype}")
    if red in ("MIN", "MAX") and dtype.startswith("complex"):
        raise Fault(f"{red} means nothing for {dtype}")
    if red == "AVG" and dtype == "bool":
        raise Fault("AVG means nothing for bool")
    if red == "PREMUL_SUM" and dtype not in _FLOATS:
        raise Fault(f"PREMUL_SUM is for floating point numbers, not {dtype}")


def reduce(payloads: Sequence[Bytes], dtype: str, red: str, factor: float = 1.0) -> Bytes:
    """`payloads[0] ∘ payloads[1] ∘ …` elementwise, elements of `dtype`, each payload of the same size.

    AVG divides the sum by the number of ranks (integers: toward zero). PREMUL_SUM multiplies each rank's input by
    `factor` first. For bool, SUM is "or" and PRODUCT is "and". float16 and bfloat16 are summed in float32 and rounded
    once at the end.
    """
    check(red, dtype)
    with np.errstate(all="ignore"):
        if len(payloads) == 1 and red not in ("PREMUL_SUM",):
            return payloads[0]
        arrays = [load(payload, dtype) for payload in payloads]
        if red == "PREMUL_SUM":
            arrays = [(array * array.dtype.type(factor)) for array in arrays]
        total = _fold(arrays, _UFUNCS[red])
        if red == "AVG":
            total = _divide(total, len(payloads))
        return dump(total, dtype)


def _fold(arrays: Sequence[Array], ufunc: Any) -> Array:
    if len(arrays) == 1:
        return arrays[0]
    total: Array = ufunc(arrays[0], arrays[1])
    for array in arrays[2:]:
        ufunc(total, array, out=total)
    return total


def _divide(total: Array, count: int) -> Array:
    if total.dtype.kind in "iu":
        # numpy's // rounds down; division on tensors rounds toward zero
        quotient = np.abs(total) // total.dtype.type(count)
        signed: Array = np.where(total < 0, -quotient, quotient).astype(total.dtype)
        return signed
    mean: Array = total / total.dtype.type(count)
    return mean
