"""The units this course knows: their definitions for pint, every spelling that is read, what dimensions are called."""

from __future__ import annotations

import functools
import re


class UnitProblem(ValueError):
    """The text is no quantity of the kind asked for. The message is for learners and never holds the answer."""


def clip(text: str, length: int = 40) -> str:
    """`text` on one line, control characters dropped, cut to `length` characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * length]).split())
    return line if len(line) <= length else line[: length - 1] + "…"


DEFINITIONS = (
    *(f"{name}- = 10**{power}" for name, power in (("kilo", 3), ("mega", 6), ("giga", 9))),
    *(f"{name}- = 10**{power}" for name, power in (("tera", 12), ("peta", 15), ("exa", 18))),
    *(f"{name}- = 2**{power}" for name, power in (("kibi", 10), ("mebi", 20), ("gibi", 30))),
    *(f"{name}- = 2**{power}" for name, power in (("tebi", 40), ("pebi", 50))),
    "milli- = 1/10**3",
    "micro- = 1/10**6",
    "nano- = 1/10**9",
    "bit = [information]",
    "byte = 8 * bit",
    "second = [time]",
    "minute = 60 * second",
    "hour = 3600 * second",
    "parameter = [parameter]",
    "element = [element]",
    "token = [token]",
    "flop = [operation]",
    "percent = 1/100",
)
_LARGE = {"k": "kilo", "K": "kilo", "M": "mega", "G": "giga", "T": "tera", "P": "peta", "E": "exa"}
_BINARY = {"Ki": "kibi", "ki": "kibi", "Mi": "mebi", "Gi": "gibi", "Ti": "tebi", "Pi": "pebi"}
_SMALL = {"m": "milli", "u": "micro", "μ": "micro", "n": "nano"}
# unit: (short spellings, long spellings, prefixes it takes)
_UNITS: dict[str, tuple[tuple[str, ...], tuple[str, ...], dict[str, str]]] = {
    "bit": (("b", "bit", "bits"), ("bit", "bits"), {**_LARGE, **_BINARY}),
    "byte": (("B",), ("byte", "bytes"), {**_LARGE, **_BINARY}),
    "second": (("s", "sec", "secs"), ("second", "seconds"), _SMALL),
    "minute": (("min", "mins"), ("minute", "minutes"), {}),
    "hour": (("h", "hr", "hrs"), ("hour", "hours"), {}),
    "parameter": (("param", "params"), ("parameter", "parameters"), {}),
    "element": (("elem", "elems"), ("element", "elements"), {}),
    "token": (("token", "tokens"), ("token", "tokens"), {}),
    "flop": (("FLOP", "FLOPs", "flop", "flops"), (), _LARGE),
    "percent": (("%",), ("percent",), {}),
}
_PER_SECOND = {"bps": "bit", "Bps": "byte", "FLOPS": "flop"}

# what dimensions are called: "that is …", "this asks for …"
_WORDS: dict[tuple[tuple[str, int], ...], tuple[str, str]] = {
    (): ("a plain number", "a plain number, without a unit"),
    (("[information]", 1),): ("an amount of memory", "an amount of memory in bytes, such as '3 GB'"),
    (("[time]", 1),): ("a time", "a time, such as '20 ms'"),
    (("[information]", 1), ("[time]", -1)): (
        "a speed in bytes or bits a second",
        "a speed, such as '50 GB/s'",
    ),
    (("[parameter]", 1),): ("a number of parameters", "a number of parameters, such as '7e9'"),
    (("[element]", 1),): ("a number of elements", "a number of elements, such as '4e6'"),
    (("[token]", 1),): ("a number of tokens", "a number of tokens, such as '2048'"),
    (("[operation]", 1),): ("a number of operations", "a number of operations, such as '3 TFLOP'"),
    (("[operation]", 1), ("[time]", -1)): (
        "operations a second",
        "operations a second, such as '300 TFLOP/s'",
    ),
    (("[information]", 1), ("[parameter]", -1)): (
        "bytes a parameter",
        "bytes a parameter, such as '2 B/param'",
    ),
    (("[information]", 1), ("[token]", -1)): ("bytes a token", "bytes a token, such as '2 B/token'"),
    (("[information]", 1), ("[element]", -1)): (
        "bytes an element",
        "bytes an element, such as '4 B/element'",
    ),
    (("[information]", -1), ("[operation]", 1)): (
        "operations a byte",
        "operations a byte, such as '100 FLOP/B'",
    ),
}


def describe(dimension: tuple[tuple[str, int], ...]) -> tuple[str, str]:
    known = _WORDS.get(dimension)
    if known:
        return known
    spelled = " ".join(name.strip("[]") + (f"^{power}" if power != 1 else "") for name, power in dimension)
    return f"a quantity of {spelled}", f"a quantity of {spelled}"


@functools.cache
def _spellings() -> dict[str, str]:
    """Every accepted spelling of a single unit -> its name for pint ("GB" -> "gigabyte")."""
    table: dict[str, str] = {}
    for unit, (short, long, prefixes) in _UNITS.items():
        table |= dict.fromkeys((*short, *long), unit)
        for sign, prefix in prefixes.items():
            table |= {sign + name: prefix + unit for name in short}
            table |= {prefix + name: prefix + unit for name in long}
    for name, unit in _PER_SECOND.items():
        table[name] = f"{unit}/second"
        for sign, prefix in _UNITS[unit][2].items():
            table[sign + name] = f"{prefix}{unit}/second"
    return table


_FACTOR = re.compile(r"\s*(?P<name>[A-Za-zμ%]+)\s*(?:(?:\^|\*\*)\s*(?P<power>-?[1-3])(?![0-9]))?")
_JOIN = re.compile(r"\s*(?P<join>/|\bper\b|\*(?!\*)|·|×)\s*")


def for_pint(text: str) -> str:
    """The unit in `text` spelled for pint, from names of our own table only. Raises UnitProblem."""
    parts: list[str] = []
    at, sign, count = 0, 1, 0
    while at < len(text):
        join = _JOIN.match(text, at)
        if join and (parts or join["join"] in ("/", "per")):
            sign = -1 if join["join"] in ("/", "per") else 1
            at = join.end()
        factor = _FACTOR.match(text, at)
        count += 1
        if not factor or count > 6:
            raise UnitProblem(f"'{clip(text)}' is not a unit this course knows")
        parts.append(f"({_name(factor['name'])})**({sign * int(factor['power'] or 1)})")
        at, sign = factor.end(), 1
    return "*".join(parts)


def _name(spelling: str) -> str:
    table = _spellings()
    exact = table.get(spelling) or table.get(spelling.casefold() if len(spelling) > 5 else spelling)
    if exact:
        return exact
    near = sorted({known for known in table if known.casefold() == spelling.casefold()})
    if near:
        raise UnitProblem(
            f"'{clip(spelling)}' can be read in more than one way; did you mean {' or '.join(near)}?"
        )
    raise UnitProblem(f"'{clip(spelling)}' is not a unit this course knows")
