"""The dtypes that go over the switch, by torch's names, and how numpy holds each."""

from __future__ import annotations

from typing import Any

import numpy as np

Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Array = np.ndarray[Any, np.dtype[Any]]

ITEMSIZE = {
    "float64": 8,
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "int64": 8,
    "int32": 4,
    "int16": 2,
    "int8": 1,
    "uint8": 1,
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "bool": 1,
    "complex64": 8,
    "complex128": 16,
    "float8_e4m3fn": 1,
    "float8_e5m2": 1,
}

LOW_PRECISION = frozenset({"float16", "bfloat16"})
"""Reduced in float32 and rounded once, so that the order of ranks never shows in the last bit of a partial sum."""

OPAQUE = frozenset({"float8_e4m3fn", "float8_e5m2"})
"""Carried, never reduced."""


def load(data: Bytes, dtype: str) -> Array:
    """The elements in `data` as numpy numbers; float16 and bfloat16 as float32."""
    if dtype == "bfloat16":
        return (data.view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    array = data.view(dtype)
    return array.astype(np.float32) if dtype == "float16" else array


def dump(array: Array, dtype: str) -> Bytes:
    """The bytes of `array` as elements of `dtype`; float32 goes to bfloat16 by rounding to nearest, ties to even."""
    if dtype == "bfloat16":
        bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
        rounded = (bits + (0x7FFF + ((bits >> 16) & 1))) >> 16
        # adding could carry a NaN over into infinity: NaNs are cut instead, and stay NaN by their quiet bit
        kept = np.where(np.isnan(array), (bits >> 16) | 0x40, rounded)
        return kept.astype(np.uint16).view(np.uint8)
    return np.ascontiguousarray(array.astype(dtype, copy=False)).view(np.uint8)
