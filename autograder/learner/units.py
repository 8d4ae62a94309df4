"""Quantities as text: `number unit`, read strictly, by our own small registry of units.

Nothing is evaluated: one regular expression reads the number, a closed table of spellings reads the unit, and pint
does the arithmetic of dimensions. So `9**9**9` is a mistake in the text and not a calculation. Numbers are exact
fractions throughout. GB is 10^9 bytes and GiB 2^30 (IEC 80000-13); bits have a dimension of their own, so that a
number of bits is never taken for a plain number.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from autograder.learner.unitnames import DEFINITIONS, UnitProblem, clip, describe, for_pint

__all__ = ["Asked", "UnitProblem", "ask", "bare_note", "clip", "note", "read", "show", "split"]

TEXT_LIMIT = 200
"""Longest text that is read as a quantity, in characters."""
EXPONENT_LIMIT = 400
"""Largest power of ten that is read; what lies beyond is told, not computed."""


@dataclass(frozen=True)
class Asked:
    """What a question asks for: `unit` as the author wrote it ("" for a plain number), `factor` base units (bits,
    seconds …) in one of it, and `dimension` as sorted pairs of base dimension and exponent.
    """

    unit: str
    factor: Fraction
    dimension: tuple[tuple[str, int], ...]

    @property
    def words(self) -> str:
        """What is asked for, in words: "an amount of memory in bytes, such as '3 GB'"."""
        return describe(self.dimension)[1]


def ask(unit: str | None) -> Asked:
    """The asked unit, from its text; None or "" asks for a plain number. Raises UnitProblem for an unknown unit."""
    return _ask((unit or "").strip())


def read(text: str, asked: Asked) -> Fraction:
    """The quantity in `text`, in base units. A bare number is taken in the asked unit.

    Raises UnitProblem that says what is wrong and what was expected: no number, unknown unit, wrong dimension.
    """
    number, unit_text = split(text)
    if not unit_text:
        return number * asked.factor
    try:
        unit = _ask(unit_text)
    except UnitProblem as problem:
        if not asked.dimension and not asked.unit:
            raise UnitProblem(f"{problem}; this asks for {asked.words}") from None
        raise UnitProblem(f"{problem} (this asks for {asked.words})") from None
    if unit.dimension != asked.dimension:
        raise UnitProblem(f"that is {describe(unit.dimension)[0]}; this asks for {asked.words}")
    return number * unit.factor


def note(text: str, asked: Asked) -> str:
    """A remark on how `text` was read that helps when the answer is wrong, or ""."""
    try:
        _, unit = split(text)
    except UnitProblem:
        return ""
    bits = re.search(r"(?<![A-Za-z])(?:[kKMGTPE]i?)?b(?:its?|ps)?(?![A-Za-z])", unit)
    if bits and dict(asked.dimension).get("[information]"):
        return f"You wrote {bits.group()}: that is in bits, and 8 bits make a byte (GB is gigabytes, Gb gigabits)."
    if not unit and asked.unit:
        return bare_note(asked)
    return ""


def bare_note(asked: Asked) -> str:
    """How a number without a unit was read."""
    return f"A bare number is read in {asked.unit}; write the unit if yours is another." if asked.unit else ""


def show(value: Fraction, asked: Asked) -> str:
    """`value` (base units) in the asked unit, to six digits: "1.5 GB". For graders and authors."""
    number = value / asked.factor
    shown = f"{number.numerator}" if number.denominator == 1 and abs(number) < 10**6 else _six_digits(number)
    return f"{shown} {asked.unit}".strip()


def split(text: str) -> tuple[Fraction, str]:
    """The number and the text of the unit. Raises UnitProblem when `text` does not start with a number."""
    if len(text) > TEXT_LIMIT:
        raise UnitProblem(f"that text has {len(text)} characters; write a number and a unit, such as '3 GB'")
    clean = _clean(text)
    found = _NUMBER.match(clean)
    if not found:
        raise UnitProblem(
            f"'{clip(text)}' does not start with a number; write a number and a unit, such as '3 GB'"
        )
    number = _number(
        found["whole"], found["part"] or found["dot"], found["exp"] or found["power"], found["sign"]
    )
    if found["under"]:
        below = _number(found["under"], None, None, "")
        if not below:
            raise UnitProblem("that divides by zero")
        number /= below
    if found["scale"]:
        number *= _SCALES[found["scale"].casefold()]
    rest = clean[found.end() :].strip()
    if re.match(r",[0-9]", rest):
        raise UnitProblem(
            f"'{clip(text)}' has a comma in the number; write a decimal point, such as '1.5 GB'"
        )
    if re.match(r"(?:\*|x |×|·|\+|-|\(|\^|[0-9.]|/ *[0-9(])", rest):
        raise UnitProblem(
            f"'{clip(text)}' is a calculation, and texts are not worked out; write one number and a unit"
        )
    return number, rest


_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_GROUPED = r"[0-9]{1,3}(?:[,_ '][0-9]{3})+(?![0-9])"
_NUMBER = re.compile(
    rf"""\s* (?:[~≈=]\s*)? (?P<sign>[+-]?) \s*
    (?: (?P<whole>{_GROUPED}|[0-9]+(?:_[0-9]+)*) (?:\.(?P<part>[0-9]*))? | \.(?P<dot>[0-9]+) )
    (?: [eE](?P<exp>[+-]?[0-9]+)(?![0-9.]) | \s*[x×*·]\s*10\s*(?:\^|\*\*)\s*(?P<power>[+-]?[0-9]+)(?![0-9.]) )?
    (?: \s*/\s*(?P<under>[0-9]+)(?![0-9.eE^*]) )?
    (?: \s*(?P<scale>thousand|million|billion|trillion)\b )?
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _clean(text: str) -> str:
    raised = re.sub(r"[⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺]+", lambda m: "^" + m.group().translate(_SUPERSCRIPTS), text)
    # NFKC makes ASCII of full-width digits and of the many spaces; the micro sign becomes the Greek letter
    plain = unicodedata.normalize("NFKC", raised).replace("−", "-").replace("\N{FRACTION SLASH}", "/")
    return " ".join(plain.split())


def _number(whole: str | None, part: str | None, exponent: str | None, sign: str) -> Fraction:
    digits = re.sub(r"[^0-9]", "", whole or "")
    power = int(exponent) if exponent and len(exponent) <= 6 else 0 if not exponent else EXPONENT_LIMIT + 1
    if abs(power) > EXPONENT_LIMIT:
        raise UnitProblem("that number is far out of range")
    value = Fraction(int((digits or "0") + (part or "")), 10 ** len(part or "")) * Fraction(10) ** power
    return -value if sign == "-" else value


def _six_digits(number: Fraction) -> str:
    try:
        return f"{float(number):.6g}"
    except OverflowError:
        return f"about 10^{len(str(abs(number.numerator) // number.denominator)) - 1}"


# --- units ---


@functools.cache
def _registry() -> Any:
    import pint  # a fifth of a second: only when a quantity is read

    registry: Any = pint.UnitRegistry(None, non_int_type=Fraction)
    for line in DEFINITIONS:
        registry.define(line)
    return registry


@functools.lru_cache(maxsize=512)
def _ask(text: str) -> Asked:
    if not text:
        return Asked("", Fraction(1), ())
    registry = _registry()
    total = registry.Quantity(Fraction(1), registry.parse_units(for_pint(_clean(text)))).to_base_units()
    dimension = tuple(
        sorted((str(name), int(power)) for name, power in total.dimensionality.items() if power)
    )
    return Asked(text, Fraction(total.magnitude), dimension)
