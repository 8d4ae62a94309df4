"""Quantities in texts: what is read, what is refused and in which words."""

from __future__ import annotations

import contextlib
import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.learner import units

BYTES = units.ask("B")
GB = 8 * 10**9  # bits


@pytest.mark.parametrize(
    "text",
    [
        "112 GB",
        "112GB",
        "112e9 B",
        "112e9",
        "1.12e11 bytes",
        "112,000,000,000 B",
        "112_000_000_000 B",
        "112 000 000 000 B",
        "112\u202f000\u00a0MB",
        "0.112 TB",
        ".112 TB",
        "1.12×10^11 B",
        "1.12 x 10**11 B",
        "1.12·10¹¹ B",
        "112 billion bytes",
        "≈ 112 GB",
        "~112 gigabytes",
        "+112 GigaBytes",
        "112. GB",
        "896 Gbit",
        "896 Gb",
        "224/2 GB",
        "１１２ GB",
    ],
)
def test_many_spellings_are_one_quantity(text: str) -> None:
    assert units.read(text, BYTES) == 112 * GB


def test_binary_prefixes_are_powers_of_two() -> None:
    assert units.read("1 GiB", BYTES) == 8 * 2**30
    assert units.read("1 KiB", BYTES) == 8 * 1024
    assert units.read("1 TiB", BYTES) == 1024 * units.read("1 GiB", BYTES)
    assert abs(units.read("104.308 GiB", BYTES) / (112 * GB) - 1) < Fraction(1, 10**4)


@pytest.mark.parametrize(
    ("unit", "text", "value"),
    [
        ("ms", "0.2 s", "0.2"),
        ("ms", "200", "0.2"),
        ("s", "3 min", "180"),
        ("s", "250 µs", "0.00025"),
        ("s", "250 μs", "0.00025"),
        ("GB/s", "80 Gbps", "80e9"),
        ("GB/s", "10 GB per s", "80e9"),
        ("GB/s", "10 GB s^-1", "80e9"),
        ("GB/s", "10 GB s⁻¹", "80e9"),
        ("TFLOP/s", "312 TFLOPS", "312e12"),
        ("FLOP", "2 TFLOPs", "2e12"),
        ("B/param", "16 B/param", "128"),
        ("B/param", "16 bytes per parameter", "128"),
        ("FLOP/B", "8 FLOP/B", "1"),
        ("param", "7 billion params", "7e9"),
        ("%", "25", "0.25"),
        ("", "25%", "0.25"),
        ("", "0.25", "0.25"),
        ("", "7/8", "0.875"),
        ("token", "2,048 tokens", "2048"),
    ],
)
def test_units_of_the_course(unit: str, text: str, value: str) -> None:
    assert units.read(text, units.ask(unit)) == Fraction(value)


@pytest.mark.parametrize(
    ("unit", "text", "words"),
    [
        ("GB", "3 s", "that is a time; this asks for an amount of memory in bytes, such as '3 GB'"),
        ("GB", "3 GB/s", "that is a speed"),
        ("s", "3 GB", "that is an amount of memory; this asks for a time, such as '20 ms'"),
        ("", "3 GB", "this asks for a plain number, without a unit"),
        ("", "8 GPUs", "this asks for a plain number, without a unit"),
        ("B", "3 %", "that is a plain number; this asks for an amount of memory"),
        ("GB", "112 gb", "did you mean GB or Gb?"),
        ("GB", "112 gib", "did you mean"),
        ("GB", "5 apples", "'apples' is not a unit this course knows"),
        ("GB", "1,5 GB", "write a decimal point"),
        ("GB", "16*7e9", "is a calculation"),
        ("GB", "16 * 7e9 B", "is a calculation"),
        ("GB", "7e9 x 16 B", "is a calculation"),
        ("GB", "1 + 1 GB", "is a calculation"),
        ("GB", "", "does not start with a number"),
        ("GB", "GB", "does not start with a number"),
        ("GB", "about 3 GB", "does not start with a number"),
        ("GB", "nan", "does not start with a number"),
        ("GB", "1e9999 B", "far out of range"),
        ("GB", "1e" + "9" * 150, "far out of range"),
        ("GB", "1/0 GB", "divides by zero"),
        ("GB", "3 " + "GB" * 200, "characters"),
        ("GB", "3 GB^9", "not a unit"),
        ("GB", "3 B*B*B*B*B*B*B", "not a unit"),
        ("GB", "٣ GB", "does not start with a number"),
    ],
)
def test_what_is_refused_is_told(unit: str, text: str, words: str) -> None:
    with pytest.raises(units.UnitProblem) as problem:
        units.read(text, units.ask(unit))
    assert words in str(problem.value)


def test_bits_are_no_plain_number() -> None:
    assert units.ask("bit").dimension != ()
    with pytest.raises(units.UnitProblem):
        units.read("5 bit", units.ask(None))


@pytest.mark.parametrize(
    "text",
    [
        "9**9**9",
        "9" * 199,
        "9^9^9^9",
        "1e400*1e400",
        "(" * 199,
        "1 " + "m" * 190,
        "1,000" * 39,
        "1 " + "* " * 90,
    ],
)
def test_nothing_is_evaluated_and_nothing_hangs(text: str) -> None:
    started = time.process_time()
    try:
        units.read(text, BYTES)
    except units.UnitProblem as problem:
        assert len(str(problem)) < 300
    assert time.process_time() - started < 0.5


@given(st.text(max_size=250))
def test_any_text_is_read_or_told(text: str) -> None:
    try:
        assert isinstance(units.read(text, BYTES), Fraction)
    except units.UnitProblem as problem:
        assert str(problem).isprintable()


@given(st.text(alphabet="0123456789.,_eE+-*/^ xGMiBbs%µ⁻¹", max_size=40))
def test_any_text_of_numbers_and_units_is_read_or_told(text: str) -> None:
    with contextlib.suppress(units.UnitProblem):
        units.read(text, BYTES)


@given(
    st.integers(-(10**15), 10**15),
    st.sampled_from(
        [("B", 8), ("kB", 8000), ("MB", 8 * 10**6), ("MiB", 8 * 2**20), ("GiB", 8 * 2**30), ("Gbit", 10**9)]
    ),
)
def test_reading_is_exact(number: int, unit: tuple[str, int]) -> None:
    assert units.read(f"{number} {unit[0]}", BYTES) == number * unit[1]
    assert units.read(f"{number:,} {unit[0]}", BYTES) == number * unit[1]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_float_is_read_as_it_is(number: float) -> None:
    assert (
        units.read(repr(number), units.ask("s")) == Fraction(number)
        or float(units.read(repr(number), units.ask("s"))) == number
    )


def test_notes_help_with_bits_and_bare_numbers() -> None:
    gigabytes = units.ask("GB")
    assert "8 bits make a byte" in units.note("112 Gb", gigabytes)
    assert "8 bits make a byte" in units.note("10 Gbps", units.ask("GB/s"))
    assert "read in GB" in units.note("112", gigabytes)
    assert units.note("112 GB", gigabytes) == ""
    assert units.note("5 min", units.ask("s")) == ""


def test_show_gives_the_asked_unit() -> None:
    assert units.show(Fraction(112 * GB), units.ask("GB")) == "112 GB"
    assert units.show(Fraction(10**6) / 3, units.ask("")) == "333333"
    assert units.show(Fraction(10) ** 400, units.ask("")) == "about 10^400"
