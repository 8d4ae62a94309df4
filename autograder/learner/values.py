"""Answers as plain data: what a learner's object becomes on the wire, and what a wire value means.

On the wire a value is an object of one key: {"n": number or its text} {"t": text} {"b": bool} {"l": [values]}
{"none": 1} for `...`, {"f": [parameter names]} for a callable, {"x": type name} for anything else. `encode` runs beside
learner code and may meet any object; `decode` runs in the judge and may meet any JSON. Both are capped.
"""

from __future__ import annotations

import inspect
import math
import numbers
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from autograder.learner import units

TEXT_LIMIT = 1000
"""Characters of a text that are kept."""
LIST_LIMIT = 2000
"""Values in a list, nested ones counted, that are kept; a longer list is no answer."""
DEPTH_LIMIT = 4
DIGITS_LIMIT = 400
"""Digits of a number that are kept; a longer one is told as too large."""

Kind = Literal["number", "text", "bool", "list", "missing", "function", "other"]
Number = Fraction | float
"""A finite number, exact, or one of nan, inf, -inf."""


class Malformed(ValueError):
    """The JSON is no value of the wire."""


@dataclass(frozen=True)
class Value:
    """One answer. `data` by kind: number Fraction or a non-finite float; text str; bool bool; list tuple of Value;
    missing None; function tuple of parameter names; other the type's name.
    """

    kind: Kind
    data: Any = None

    def __str__(self) -> str:
        """The value in a few hundred characters at most, for people."""
        match self.kind:
            case "number":
                return _number_text(self.data)
            case "text":
                return repr(units.clip(self.data, _SHOWN))
            case "list":
                text = "[" + ", ".join(map(str, self.data[:20])) + (", …]" if len(self.data) > 20 else "]")
                return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
            case "missing":
                return "..."
            case "function":
                return f"a function of ({', '.join(self.data)})"
            case "other":
                return f"an object of type {self.data}"
            case "bool":
                return str(self.data)


MISSING = Value("missing")
_SHOWN = 300


def number(value: int | float | Fraction) -> Value:
    """A number as a value. A float is the decimal it is written as; one that is not finite stays a float."""
    if isinstance(value, float):
        return Value("number", Fraction(repr(value)) if math.isfinite(value) else value)
    return Value("number", Fraction(value))


# --- from objects to the wire ----------------------------------------------------------------------------------------


def encode(answer: object) -> dict[str, Any]:
    """`answer` as a wire value. Never raises for an object's own methods: what cannot be read is {"x": type name}."""
    try:
        return _encode(answer, DEPTH_LIMIT, [LIST_LIMIT])
    except Exception:  # an object's __float__, __iter__ … may raise anything: then it is no answer
        return {"x": _type_name(answer)}


def value_of(answer: object) -> Value:
    """`answer` as a Value, by way of the wire, so that the judge and a learner's notebook see the same."""
    return decode(encode(answer))


def _encode(answer: object, depth: int, room: list[int]) -> dict[str, Any]:
    if answer is ...:
        return {"none": 1}
    if hasattr(type(answer), "dtype") and not isinstance(answer, str | int | float):
        answer = _from_array(answer)
    if isinstance(answer, bool):
        return {"b": bool(answer)}
    if isinstance(answer, str):
        return {"t": str.__str__(answer)[:TEXT_LIMIT].encode("utf-8", "replace").decode()}
    if isinstance(answer, numbers.Rational):
        return {"n": _rational_text(int(answer.numerator), int(answer.denominator))}
    if isinstance(answer, float):
        return {"n": float.__repr__(float(answer))}
    if isinstance(answer, numbers.Real) or type(answer).__module__ == "decimal":
        return {"n": float.__repr__(float(answer))}  # type: ignore[arg-type]
    if isinstance(answer, list | tuple | set | frozenset):
        items = sorted(answer, key=repr) if isinstance(answer, set | frozenset) else answer
        room[0] -= len(items)
        if depth == 0 or room[0] < 0:
            return {"x": f"{_type_name(answer)} too large"}
        return {"l": [_encode(item, depth - 1, room) for item in items]}
    if callable(answer):
        return {"f": _parameters(answer)}
    return {"x": _type_name(answer)}


def _from_array(answer: Any) -> object:
    """numpy scalars and arrays and torch tensors as Python values; other objects with a dtype unchanged."""
    root = type(answer).__module__.split(".")[0]
    if root not in ("numpy", "torch") or not hasattr(answer, "tolist"):
        return answer
    size = math.prod(int(n) for n in answer.shape)
    return answer.tolist() if size <= LIST_LIMIT else answer


def _rational_text(above: int, below: int) -> str:
    longest = DIGITS_LIMIT * 3  # bits: Python refuses to print very long integers, and nobody reads them
    if max(above.bit_length(), below.bit_length()) <= longest:
        return f"{above}" if below == 1 else f"{above}/{below}"
    try:
        return float.__repr__(above / below)
    except OverflowError:
        return f"{'-' if above < 0 else ''}1e{int((above.bit_length() - below.bit_length()) * 0.30103)}"


def _parameters(answer: Callable[..., Any]) -> list[str]:
    try:
        names = list(inspect.signature(answer).parameters)
    except (TypeError, ValueError):
        return []
    return [name[:40] for name in names[:20]]


def _type_name(answer: object) -> str:
    return units.clip(type(answer).__name__)


# --- from the wire to values -----------------------------------------------------------------------------------------


def decode(wire: object) -> Value:
    """The value in parsed JSON. Raises Malformed."""
    return _decode(wire, DEPTH_LIMIT, [LIST_LIMIT])


def _decode(wire: object, depth: int, room: list[int]) -> Value:
    if not isinstance(wire, dict) or len(wire) != 1:
        raise Malformed("a value is an object of one key")
    ((key, data),) = wire.items()
    if key == "none":
        return MISSING
    if key == "b" and isinstance(data, bool):
        return Value("bool", data)
    if key == "n" and isinstance(data, int | float) and not isinstance(data, bool):
        if isinstance(data, int) and data.bit_length() > DIGITS_LIMIT * 4:
            return Value("number", -math.inf if data < 0 else math.inf)
        return number(data)
    if key == "n" and isinstance(data, str):
        return Value("number", _parse_number(data))
    if key == "t" and isinstance(data, str):
        return Value("text", data[:TEXT_LIMIT])
    if key == "x" and isinstance(data, str):
        return Value("other", units.clip(data))
    if key == "f" and isinstance(data, list) and len(data) <= 20 and all(isinstance(n, str) for n in data):
        return Value("function", tuple(units.clip(n) for n in data))
    if key == "l" and isinstance(data, list):
        room[0] -= len(data)
        if depth == 0 or room[0] < 0:
            return Value("other", "list too large")
        return Value("list", tuple(_decode(item, depth - 1, room) for item in data))
    raise Malformed(f"no value of the wire: {units.clip(str(key))}")


_NUMBER = re.compile(
    r"(?P<above>-?[0-9]{1,420})(?:/(?P<below>[0-9]{1,420})|(?:\.(?P<part>[0-9]{1,420}))?(?:[eE](?P<exp>[+-]?[0-9]{1,9}))?)"
)


def _parse_number(text: str) -> Number:
    if text in ("nan", "inf", "-inf"):
        return float(text)
    found = _NUMBER.fullmatch(text)
    if not found:
        raise Malformed("no number of the wire")
    if found["below"]:
        if not int(found["below"]):
            raise Malformed("a number divided by zero")
        return Fraction(int(found["above"]), int(found["below"]))
    exponent = int(found["exp"] or 0)
    if exponent > DIGITS_LIMIT:
        return -math.inf if text.startswith("-") else math.inf
    if exponent < -2 * DIGITS_LIMIT:
        return Fraction(0)
    return Fraction(text)


def _number_text(data: Number) -> str:
    if isinstance(data, float):
        return str(data)
    if data.denominator == 1 and abs(data) < 10**15:
        return str(data.numerator)
    try:
        return f"{float(data):.12g}"
    except OverflowError:
        return f"about {'-' if data < 0 else ''}1e{int(abs(data.numerator).bit_length() * 0.30103)}"


def to_wire(value: Value) -> dict[str, Any]:
    """A known value (number, text, truth, list of these) as it stands on the wire, whole."""
    return {"l": [to_wire(item) for item in value.data]} if value.kind == "list" else encode(value.data)


# --- comparing -------------------------------------------------------------------------------------------------------


class NotReadable(ValueError):
    """The answer is not of the kind asked for; the message says what it is and what was expected."""


def to_base(value: Value, asked: units.Asked) -> Fraction:
    """A quantity in base units from a number (taken in the asked unit) or a text. Raises NotReadable."""
    if value.kind == "text":
        try:
            return units.read(value.data, asked)
        except units.UnitProblem as problem:
            raise NotReadable(str(problem)) from None
    if value.kind != "number":
        raise NotReadable(f"{what(value)}; this asks for {asked.words}")
    if isinstance(value.data, float):
        shown = "not a number (NaN)" if math.isnan(value.data) else "infinite, or far out of range"
        raise NotReadable(f"the answer is {shown}; this asks for {asked.words}")
    return Fraction(value.data) * asked.factor


def what(value: Value) -> str:
    """What kind of thing was given, in words: "that is a list"."""
    match value.kind:
        case "other" if value.data == "NoneType":
            return "that is nothing (None)"
        case "other":
            return f"that is an object of type {value.data}"
        case "bool":
            return f"that is {value.data}"
        case "missing":
            return "that is `...`, not answered yet"
        case kind:
            return f"that is a {kind}"


EXACT = Fraction(1, 10**12)
"""What `rel=0` allows a number that is not whole: the rounding of double precision."""


def allowed(right: Fraction, rel: float, asked: units.Asked) -> tuple[Fraction, Fraction]:
    """The closed interval of accepted values around `right`, in base units. rel=0: `right` itself when it is whole
    in the asked unit, else within double rounding.
    """
    whole = (right / asked.factor).denominator == 1
    width = abs(right) * (Fraction(repr(float(rel))) if rel else Fraction(0) if whole else EXACT)
    return right - width, right + width


def distance(number: Fraction, known: Fraction) -> Fraction:
    """How far a number is from a known one, relative to that; for choosing the nearest of two."""
    return abs(number - known) / abs(known) if known else abs(number)


def same(right: Value, given: Value, asked: units.Asked, rel: float) -> bool:
    """Whether `given` is the answer `right`: numbers and quantities within `rel`, texts but for case and spaces,
    lists element by element. Raises NotReadable when a number was asked for and something else was given.
    """
    if right.kind == "number":
        low, high = allowed(Fraction(right.data) * asked.factor, rel, asked)
        return low <= to_base(given, asked) <= high
    if right.kind == "list":
        if given.kind != "list":
            raise NotReadable(f"{what(given)}; this asks for a list")
        pairs = zip(right.data, given.data, strict=False)
        return len(right.data) == len(given.data) and all(same(r, g, asked, rel) for r, g in pairs)
    if right.kind == "text":
        if given.kind != "text":
            raise NotReadable(f"{what(given)}; this asks for a text")
        return plain(right.data) == plain(given.data)
    if given.kind != right.kind:
        raise NotReadable(f"{what(given)}; this asks for True or False")
    return bool(given.data is right.data)


def plain(text: str) -> str:
    """A text without case and with single spaces, for comparing."""
    return " ".join(text.split()).casefold()


def bare_function(value: Value) -> str:
    """What is wrong with a value where a function was asked for."""
    return f"{what(value)}; this asks for a function, without calling it (no parentheses)"
