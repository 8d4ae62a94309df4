"""Formulas that stand in the question bank: text over parameters, the budget model and plain arithmetic.

They are part of the course's own content, like the hidden tests of a notebook, and never come from a hand-in. Every
number is exact (`int` or `Fraction`); a decimal point in a formula is read as the decimal it is.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from autograder.item import Numeric
from autograder.judge import budget

FACES = 12
"""The most sets of numbers one item is asked with."""
UNITS = {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "MiB": 2**20, "GiB": 2**30}

_FIELD = re.compile(r"\{\{(.+?)\}\}")


class FormulaProblem(ValueError):
    """A formula that cannot be worked out: which one, and why."""


@functools.cache
def _scope() -> dict[str, Any]:
    names = {name: thing for name, thing in vars(budget).items() if not name.startswith("_")}
    plain = {"ceil": math.ceil, "floor": math.floor, "min": min, "max": max, "sum": sum, "round": round}
    return {**names, **plain, **UNITS, "Fraction": Fraction, "range": range, "len": len, "__builtins__": {}}


class _Exact(ast.NodeTransformer):
    """Division and decimals without floating point."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, ast.Div):
            return node
        over = ast.Call(func=ast.Name(id="Fraction", ctx=ast.Load()), args=[node.left], keywords=[])
        return ast.BinOp(left=over, op=ast.Div(), right=node.right)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if not isinstance(node.value, float):
            return node
        text = ast.Constant(value=repr(node.value))
        return ast.Call(func=ast.Name(id="Fraction", ctx=ast.Load()), args=[text], keywords=[])


@functools.lru_cache(maxsize=4096)
def _compiled(formula: str) -> Any:
    tree = _Exact().visit(ast.parse(formula.strip(), "<formula>", "eval"))
    return compile(ast.fix_missing_locations(tree), "<formula>", "eval")


def evaluate(formula: str, names: Mapping[str, int | str] | None = None) -> Any:
    """The value of `formula`, numbers as Fraction. Raises FormulaProblem."""
    try:
        made = eval(_compiled(formula), {**_scope(), **(names or {})})
    except Exception as error:  # whatever an author's formula raises is the author's to read
        raise FormulaProblem(f"{formula!r}: {type(error).__name__}: {error}") from error
    if isinstance(made, float):
        raise FormulaProblem(f"{formula!r} is worked out in floating point; keep it exact")
    return Fraction(made) if isinstance(made, int) and not isinstance(made, bool) else made


def value(formula: str, names: Mapping[str, int | str] | None = None) -> Fraction:
    """The value of a formula that is a number. Raises FormulaProblem."""
    made = evaluate(formula, names)
    if not isinstance(made, Fraction):
        raise FormulaProblem(f"{formula!r} is no number but {made!r}")
    return made


def faces(item: Numeric) -> tuple[dict[str, int | str], ...]:
    """The sets of numbers an item is asked with: every combination of its parameters, or FACES of them, evenly."""
    lists = [[(name, one) for one in values] for name, values in item.parameters.items()]
    every = [dict(pairs) for pairs in itertools.product(*lists)]
    step = max(1, -(-len(every) // FACES))
    return tuple(every[::step])


def fill(text: str, names: Mapping[str, int | str]) -> str:
    """`text` with every `{{formula}}` replaced by its value. Raises FormulaProblem."""

    def shown(match: re.Match[str]) -> str:
        made = evaluate(match[1], names)
        return budget.number(made, 5) if isinstance(made, Fraction) else str(made)

    return _FIELD.sub(shown, text)
