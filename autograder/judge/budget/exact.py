"""Exact numbers and how they are shown: GB = 10^9 bytes, GiB = 2^30 bytes, never mixed."""

from __future__ import annotations

from fractions import Fraction

Exact = int | Fraction


def ceil(value: Fraction) -> int:
    """The least whole number that is not below `value`."""
    return -(-value.numerator // value.denominator)


_UNITS = {"B": 1, "MB": 10**6, "GB": 10**9, "TB": 10**12, "GiB": 2**30}


def text(size: Exact, unit: str = "GB", digits: int = 8) -> str:
    """`size` bytes as a text like "31.40625 GB": exact if that takes at most `digits` significant digits."""
    return f"{number(Fraction(size) / _UNITS[unit], digits)} {unit}"


def gb(size: Exact) -> str:
    """Bytes as a text in GB (10^9 bytes): gb(112 * 10**9) is "112 GB"."""
    return text(size, "GB")


def mb(size: Exact) -> str:
    """Bytes as a text in MB (10^6 bytes)."""
    return text(size, "MB")


def mistaken_gib(size: Exact) -> str:
    """The count of GiB in `size` with the wrong unit behind it: what someone writes who divides by 2^30, says GB."""
    return f"{number(Fraction(size, _UNITS['GiB']))} GB"


def number(value: Exact, digits: int = 8) -> str:
    """A decimal text without trailing zeros or exponent, rounded half to even at `digits` significant digits."""
    value = Fraction(value)
    if value == 0:
        return "0"
    places, size = digits - 1, abs(value)
    while size >= 10:
        size, places = size / 10, places - 1
    while size < 1:
        size, places = size * 10, places + 1
    shown = round(value, places)
    if places <= 0:
        return str(int(shown))
    whole, part = divmod(abs(shown) * 10**places, 10**places)
    tail = str(int(part)).rjust(places, "0").rstrip("0")
    return f"{'-' if value < 0 else ''}{int(whole)}{'.' + tail if tail else ''}"
