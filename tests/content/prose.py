"""Finds every figure with a unit in what learners read, and says where each one comes from."""

from __future__ import annotations

import re
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import figures_level_5
import figures_walkthrough
from stated import Stated

from autograder.build import source
from autograder.judge import budget
from autograder.judge.budget import FP32, FSDP2_MIXED, LLAMA3_8B, LLAMA_7B, MIXED, Method

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ("level-1", "level-2", "level-3", "level-5", "walkthrough")
BANK = ("misconceptions", "corrections")  # figures of items stand beside their formulas: see quiz/figures.py

_NUMBER = r"\d+(?:\.\d+)?"
FIGURE = re.compile(
    rf"(?<![\w.^])({_NUMBER}(?:-{_NUMBER})?)"
    rf"(?:\$?[ -](GB|MB|TB|GiB|KiB|B|bytes?|Gbit/s|GB/s)\b|(GB|MB|TB|GiB|KiB)\b|\s?(%))"
)


def figures(text: str) -> set[str]:
    """All figures with a unit in `text`, like "31.4 GB" and "1-2 %"."""
    return {f"{m[1]} {(m[2] or m[3] or m[4]).replace('bytes', 'byte')}" for m in FIGURE.finditer(text)}


def read(name: str) -> str:
    """The prose of a notebook source (its markdown cells), or the text of a file of the bank."""
    if name in NOTEBOOKS:
        notebook = source.read(ROOT / f"solutions/notebooks/{name}.py")
        return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    return "\n".join(_texts(table(name)))


def table(name: str) -> dict[str, Any]:
    """A file of the bank as it stands, before any check."""
    return tomllib.loads((ROOT / f"quizbank/{name}.toml").read_text(encoding="utf-8"))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in inner for text in _texts(part)]


def _state(method: Method, regime: budget.Regime, params: int = 7_500_000_000, ranks: int = 64) -> Fraction:
    return budget.state(method, params, ranks, regime).total


GB, MB = 10**9, 10**6
_BUFFER = Fraction(15 * GB, 10) / (7 * GB * FSDP2_MIXED.compute)
_LLAMA: dict[str, Fraction | Stated] = {
    "3.0 %": 100 * Fraction(LLAMA_7B.block, LLAMA_7B.params),
    "13.1 %": 100 * Fraction(LLAMA3_8B.root, LLAMA3_8B.params),
    "10.7 %": 100 * _BUFFER,
    "1.5 GB": Stated("the buffer that is often quoted, refuted here"),
    "1-2 %": Stated("the rule of thumb that is refuted here"),
}

SOURCES: dict[str, dict[str, Fraction | int | Stated]] = {
    "level-1": {
        "1 %": Stated("the tolerance, rel=0.01 of expect.quantity"),
        "1.5 GB": Stated("the example of how to write an answer"),
        "1.397 GiB": Fraction(15 * GB, 10) / 2**30,
        "2 byte": MIXED.param,
        "4 byte": FP32.param,
        "16 byte": FP32.total,
        "16 B": MIXED.total,
        "5 GB": Stated("given in 1.1 (b)"),
        "1200 MB": Stated("given in 1.2 (b)"),
    },
    "level-2": {
        **_LLAMA,
        "1 %": Stated("the tolerance, rel=0.01 of expect.quantity"),
        "6.5 %": 100 * Fraction(LLAMA3_8B.embedding, LLAMA3_8B.params),
        "2 B": FSDP2_MIXED.compute,
        "4 B": FP32.compute,
        "8 B": FP32.optimizer,
        "12 B": MIXED.optimizer,
        "2 byte": FSDP2_MIXED.compute,
        "4 byte": FSDP2_MIXED.grad,
        "16 byte": FP32.total,
        "80 GB": Stated("the card of 2.1 and 2.3"),
        "10 GB": Stated("given in 2.3 (c)"),
        "8 GB": Stated("the working memory of the picture"),
        "120 GB": _state(Method.DP, MIXED) / GB,
        "31.4 GB": _state(Method.ZERO1, MIXED) / GB,
        "16.6 GB": _state(Method.ZERO2, MIXED) / GB,
        "1.9 GB": _state(Method.ZERO3, MIXED) / GB,
        "60.9 GB": _state(Method.ZERO1, FP32) / GB,
        "16 GB": Stated("the cards of 2.4"),
        "12 GB": _state(Method.ZERO3, FP32, 3 * GB, 4) / GB,
        "4 GB": 16 - _state(Method.ZERO3, FP32, 3 * GB, 4) / GB,
    },
    "level-3": {
        "1 %": Stated("the tolerance, rel=0.01 of expect.quantity"),
        "700 MB": Stated("given in 3.1 and 3.2"),
        "10 Gbit/s": Stated("given in 3.2"),
        "16 byte": FP32.total,
        "80 GB": Stated("the card of 3.5"),
        "6 GB": Stated("given in 3.5 (c)"),
        "20 %": Stated("the figure without a source, named as such"),
    },
    "level-5": figures_level_5.SOURCES,
    "walkthrough": figures_walkthrough.SOURCES,
    "misconceptions": {
        "1 GB": Stated("a definition"),
        "1 GiB": Stated("a definition"),
        "7 %": 100 * (Fraction(2**30, GB) - 1),
        "8 byte": FP32.optimizer,
        "16 byte": FP32.total,
        "2 byte": FSDP2_MIXED.compute,
        "4 byte": FP32.param,
        "10 Gbit/s": Stated("an example"),
        "10 GB": Stated("the belief: 10 GB a second"),
        "1.25 GB": Fraction(10, 8),
        "15 %": Stated("a rule of thumb, named as such"),
        "1-2 %": Stated("a rule of thumb, named as such"),
    },
    "corrections": {
        **_LLAMA,
        **figures_level_5.CORRECTIONS,
        "16 byte": FP32.total,
        "2 byte": FSDP2_MIXED.compute,
        "4 byte": FP32.param,
        "15-20 %": Stated("the figure without a source"),
    },
}

PHRASES: dict[str, list[tuple[str, bool]]] = {
    # figures without a unit: the words as they stand, and whether they are right
    "level-1": [
        ("| fp32 Adam | 4 | 4 | 4 + 4 |", (FP32.param, FP32.grad, FP32.optimizer) == (4, 4, 4 + 4)),
        ("| mixed, ZeRO layout | 2 | 2 | 4 (master) + 4 + 4 |", MIXED.optimizer == 4 + 4 + 4),
    ],
    "level-2": [
        ("| fp32 Adam | 4 + 4 + 8 B | 4 B |", (FP32.param, FP32.grad, FP32.optimizer) == (4, 4, 8)),
        ("2 + 2 + 12 B (fp32 master", (MIXED.param, MIXED.grad, MIXED.optimizer) == (2, 2, 12)),
        ("FSDP2 policy | 4 + 4 + 8 B | 2 B", (FSDP2_MIXED.grad, FSDP2_MIXED.compute) == (4, 2)),
        ("(32 blocks)", LLAMA_7B.layers == 32),
        ("some 50 to 100 equal layers", (100 / 50, 100 / 100) == (2, 1)),
        ("16 × 3 ÷ 4 = 12", 16 * 3 / 4 == 12),
        ("too little for a root unit of 13.1%", Fraction(LLAMA3_8B.root, LLAMA3_8B.params) > _BUFFER),
    ],
    "level-3": [
        (
            "takes 980 ms where there are 600 ms",
            2 * budget.ring_time(700 * MB, 8, budget.link_bytes(10)) == Fraction(98, 100),
        ),
        ("come to just what data parallelism sends", 2 + 2 + 4 == 4 + 4),
    ],
    "level-5": figures_level_5.PHRASES,
    "walkthrough": figures_walkthrough.PHRASES,
    "misconceptions": [
        ("5 rows on 4 ranks give 2, 2, 1, 0", budget.chunk_rows(5, 4) == [2, 2, 1, 0]),
        ("half of 16 bytes a parameter in fp32", FP32.optimizer * 2 == FP32.total),
        ("three quarters of them in ZeRO's mixed layout", MIXED.optimizer * 4 == 3 * MIXED.total),
        ("grows by about a third", Fraction(1 + 2 + 1, 1 + 2) - 1 == Fraction(1, 3)),
        ("four times the fp32 parameters", FP32.total == 4 * FP32.param),
        ("three blocks for equal layers", budget.transient([1, 1, 1], 1).total == 3),
    ],
    "corrections": [
        ("5 rows on 4 ranks give 2, 2, 1, 0", budget.chunk_rows(5, 4) == [2, 2, 1, 0]),
        ("from 16PN to 16P", 8 * _state(Method.ZERO3, FP32, 100, 8) == 16 * 100),
        ("three blocks for equal layers", budget.transient([1, 1, 1], 1).total == 3),
    ],
}
