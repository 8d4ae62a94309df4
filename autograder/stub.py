"""Turns solution text into stub text: the one rule for notebooks and labs.

A region between `### BEGIN SOLUTION` and `### END SOLUTION` is answered by the learner. Inside a function (the marker
is indented) it becomes `raise NotImplementedError()`, so that unsolved never looks like wrong. At top level each name
it assigns becomes `name = ...` (or `name = answer(claim=..., …)` for an item of a quiz), with the trailing comment of
the line kept, so that Run All reaches the end.
"""

from __future__ import annotations

import ast
import io
import tokenize

BEGIN = "### BEGIN SOLUTION"
END = "### END SOLUTION"


def strip(text: str) -> str:
    """`text` with every solution region replaced by its stub. Raises ValueError with the line of a marker that is
    nested or unpaired, or of a top-level region that assigns nothing.
    """
    kept: list[str] = []
    region: list[str] | None = None
    begun, indent = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        mark = line.strip()
        if mark == BEGIN:
            if region is not None:
                raise ValueError(f"line {number}: {BEGIN} inside the region begun on line {begun}")
            region, begun, indent = [], number, line[: len(line) - len(line.lstrip())]
        elif mark == END:
            if region is None:
                raise ValueError(f"line {number}: {END} without {BEGIN}")
            kept += [f"{indent}raise NotImplementedError()"] if indent else _unassigned(region, begun)
            region = None
        elif region is not None:
            region.append(line)
        else:
            kept.append(line)
    if region is not None:
        raise ValueError(f"line {begun}: {BEGIN} without {END}")
    return "\n".join(kept)


def has_region(text: str) -> bool:
    """Whether `text` holds a solution region (or the remains of one)."""
    return BEGIN in text or END in text


def _unassigned(region: list[str], begun: int) -> list[str]:
    source = "\n".join(region)
    comments = {
        token.start[0]: token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    }
    stub: list[str] = []
    for statement in ast.parse(source).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        comment = comments.get(statement.end_lineno or 0, "")
        value = _asking(statement.value) if isinstance(statement, ast.Assign) else "..."
        stub += [f"{name} = {value}  {comment}".rstrip() for name in names]
    if not stub:
        raise ValueError(
            f"line {begun}: a top-level solution region assigns no name, so its stub would be empty"
        )
    return stub


def _asking(value: ast.expr) -> str:
    """`answer(claim=..., because=...)` for an answer to an item of a quiz, `...` for everything else."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "answer":
        return "answer(" + ", ".join(f"{word.arg}=..." for word in value.keywords if word.arg) + ")"
    return "..."
