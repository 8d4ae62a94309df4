"""Judges a learner's function by what it returns on inputs it cannot foresee, and on edges.

Points: 0 unless every drawn input holds; then half of them, and the other half by the share of edges that hold (all
of them where there are no edges; where there is nothing to draw, the share of edges alone). A misconception is named
when the function equals that wrong function on every input where the wrong one differs from the right one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from autograder.judge.draw import Draw, generator
from autograder.judge.heard import Heard, Result
from autograder.judge.part import Judged, PartKey, Tell
from autograder.learner import units
from autograder.learner.check import shown
from autograder.learner.values import (
    NotReadable,
    Value,
    bare_function,
    number,
    same,
    to_base,
    to_wire,
    value_of,
)
from autograder.verdict import PartStatus

Inputs = dict[str, Any]
_SHOWN = 4
PROBE = b"probe"
"""The seed of the inputs on which keys are tried when they are read."""


@dataclass(frozen=True, kw_only=True)
class FunctionPart(PartKey):
    """`like` is the right function, `wrong` pairs of misconception and wrong function, all called by keyword.

    `given` draws the inputs (name -> Draw, or one Draw of the whole dictionary); `draws` of them besides `edges`.
    Numbers are compared in `asked` within `rel`; lists element by element, texts but for case and spaces.
    """

    like: Callable[..., Any]
    given: Mapping[str, Draw] | Draw
    asked: units.Asked
    rel: float
    edges: tuple[Inputs, ...] = ()
    examples: tuple[Inputs, ...] = ()
    wrong: tuple[tuple[str, Callable[..., Any]], ...] = ()
    draws: int = 8

    def drawn(self, seed: bytes) -> tuple[Inputs, ...]:
        """The drawn inputs of this run."""
        if not self.given:
            return ()
        rng = generator(seed, f"{self.exercise}/{self.name}")
        return tuple(self._draw(rng) for _ in range(self.draws))

    def _draw(self, rng: Any) -> Inputs:
        if isinstance(self.given, Draw):
            return dict(self.given.sample(rng))
        return {name: source.sample(rng) for name, source in self.given.items()}

    def inputs(self, seed: bytes) -> tuple[Inputs, ...]:
        """Everything the learner's function is called with, in order: the drawn inputs, then the edges."""
        return (*self.drawn(seed), *self.edges)

    def expected(self, function: Callable[..., Any], inputs: Inputs) -> Value:
        """What `function`, ours, returns, as a value; quantities in texts become numbers in the asked unit."""
        return _in_unit(value_of(function(**_copy(inputs))), self.asked)

    def equal(self, known: Value, result: Result) -> bool:
        """Whether the learner's function returned the known value. Raises NotReadable."""
        return result.value is not None and same(known, result.value, self.asked, self.rel)

    def judge(self, heard: Heard, seed: bytes, tell: Tell) -> Judged:
        given = heard.answers[self.name]
        if given.kind != "function":
            return Judged(0, f"{bare_function(given)}.", evidence={"given": str(given)})
        results = heard.results.get(self.name, ())
        if results and results[0].kind == "NotImplementedError":
            return Judged(
                0, "Not answered yet: the function raises NotImplementedError.", status=PartStatus.MISSING
            )
        inputs = self.inputs(seed)
        right = [self.expected(self.like, each) for each in inputs]
        results = results[: len(inputs)]
        says = [self._verdict(known, result) for known, result in zip(right, results, strict=False)]
        evidence = self._evidence(inputs, right, results)
        count = len(inputs) - len(self.edges)
        answered = [said for said, result in zip(says, results, strict=True) if not result.timeout]
        if len(answered) < max(count, 1) and not any(answered):
            return self._broken_off(results, evidence)
        if len(says) == len(inputs) and not any(says):
            return Judged(1, self.right_words, evidence=evidence)
        ident = self._misconception(inputs, right, results)
        words = self._first_problem(inputs, says, count)
        fraction = self._fraction([not said for said in says], count)
        if ident:
            return Judged(fraction, tell.reason(ident, words), ident, evidence)
        return Judged(fraction, words, evidence=evidence)

    def _fraction(self, held: Sequence[bool], count: int) -> float:
        edges = sum(held[count:]) / len(self.edges) if self.edges else 1.0
        if not count:
            return edges
        return 0.5 + 0.5 * edges if len(held) >= count and all(held[:count]) else 0.0

    def _verdict(self, known: Value, result: Result) -> str:
        """ "" when right, else what is wrong, without the expected value."""
        if result.timeout:
            return "it takes too long"
        if result.value is None:
            return f"it raises {result.kind}" + (f": {result.text}" if result.text else "")
        try:
            if same(known, result.value, self.asked, self.rel):
                return ""
        except NotReadable as problem:
            return f"{problem}"
        if known.kind == "list" and len(known.data) != len(result.value.data):
            return f"it gives a list of {len(result.value.data)}, where {len(known.data)} are asked for"
        return "it gives another value"

    def _first_problem(self, inputs: Sequence[Inputs], says: Sequence[str], count: int) -> str:
        problems = [index for index, said in enumerate(says) if said]
        if not problems:  # the talk broke off among the edges
            return "It holds on the drawn inputs, and not all edge cases were answered."
        first = problems[0]
        if first >= count:
            held = "It holds on the drawn inputs, but not" if count else "It does not hold"
            return f"{held} for the edge case {shown(inputs[first])}: {says[first]}."
        failed = sum(index < count for index in problems)
        extent = "any" if failed == count else "some"
        return f"It does not hold on {extent} of the drawn inputs: {says[first]}."

    def _misconception(
        self, inputs: Sequence[Inputs], right: Sequence[Value], results: Sequence[Result]
    ) -> str | None:
        found: list[tuple[int, str]] = []
        if len(results) < len(inputs):
            return None  # the talk broke off: what did not come cannot agree
        for ident, function in self.wrong:
            differs = held = 0
            for each, known, result in zip(inputs, right, results, strict=False):
                wrong = self.expected(function, each)
                if differ(known, wrong, self.asked, self.rel):
                    differs += 1
                    held += self._is(wrong, result)
            if differs and held == differs:
                found.append((differs, ident))
        return max(found)[1] if found else None

    def _is(self, wrong: Value, result: Result) -> bool:
        try:
            return self.equal(wrong, result)
        except NotReadable:
            return False

    def _broken_off(self, results: Sequence[Result], evidence: dict[str, Any]) -> Judged:
        if results and results[-1].timeout:
            return Judged(0, "The function takes too long.", evidence=evidence, status=PartStatus.TIMEOUT)
        words = "The function was called, and no answer came."
        return Judged(0, words, evidence=evidence, status=PartStatus.CRASHED)

    def _evidence(
        self, inputs: Sequence[Inputs], right: Sequence[Value], results: Sequence[Result]
    ) -> dict[str, Any]:
        rows = []
        for index, (each, known) in enumerate(zip(inputs, right, strict=True)):
            result = results[index] if index < len(results) else None
            given = (
                None
                if result is None
                else str(result.value)
                if result.value
                else f"{result.kind}: {result.text}"
            )
            rows.append({"inputs": shown(each), "expected": str(known), "given": given})
        return {"calls": rows}

    def decides(self) -> Any:
        tried = [*self.edges, *self.examples, *self.drawn(PROBE)]
        functions = [("", self.like), *self.wrong]
        outputs = [[ident, [to_wire(self.expected(f, each)) for each in tried]] for ident, f in functions]
        given = (
            self.given.words if isinstance(self.given, Draw) else {n: d.words for n, d in self.given.items()}
        )
        return ["function", self.asked.unit, repr(self.rel), self.draws, given, repr(tried), outputs]


def leaf(value: Value) -> str:
    """The kind of every element of an expected value: number, text or bool. Raises ValueError for a mixture."""
    if value.kind != "list":
        if value.kind not in ("number", "text", "bool") or (
            value.kind == "number" and isinstance(value.data, float)
        ):
            raise ValueError(f"{value} is no finite number, text, True or False, or list of these")
        return value.kind
    kinds = {leaf(item) for item in value.data if item != Value("list", ())}
    if len(kinds) > 1:
        raise ValueError(f"a list of {' and '.join(sorted(kinds))}")
    return kinds.pop() if kinds else "number"


def differ(known: Value, other: Value, asked: units.Asked, rel: float) -> bool:
    """Whether two known values can be told apart."""
    try:
        return not same(known, other, asked, rel)
    except NotReadable:
        return True


def check_function(part: FunctionPart) -> str:
    """Tries the key on its edges, examples and a draw; the kind of what it returns. Raises ValueError."""
    tried = [*part.edges, *part.examples, *part.drawn(PROBE)]
    if not tried:
        raise ValueError(f"{part.name}: nothing to call it with: no `given`, no `edges`")
    try:
        json.dumps(tried)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{part.name}: inputs are numbers, texts, True or False, and lists: {error}"
        ) from None
    right = [_try(part, "like", part.like, each) for each in tried]
    kinds = {leaf(value) for value in right}
    if len(kinds) > 1:
        raise ValueError(f"{part.name}: like returns {' and '.join(sorted(kinds))}")
    outputs: dict[str, list[Value]] = {}
    for ident, function in part.wrong:
        wrong = [_try(part, ident, function, each) for each in tried]
        if not any(differ(r, w, part.asked, part.rel) for r, w in zip(right, wrong, strict=True)):
            raise ValueError(f"{part.name}: the wrong function of {ident} is never wrong on what was tried")
        for other, values in outputs.items():
            if not any(differ(a, b, part.asked, part.rel) for a, b in zip(values, wrong, strict=True)):
                raise ValueError(f"{part.name}: {ident} and {other} cannot be told apart")
        outputs[ident] = wrong
    return kinds.pop()


def _try(part: FunctionPart, name: str, function: Callable[..., Any], inputs: Inputs) -> Value:
    try:
        value = part.expected(function, inputs)
    except Exception as error:  # whatever an author's function raises is the author's to read
        raise ValueError(f"{part.name}: {name} fails for {shown(inputs)}: {error!r}") from error
    leaf(value)
    return value


def _in_unit(value: Value, asked: units.Asked) -> Value:
    if value.kind == "list":
        return Value("list", tuple(_in_unit(item, asked) for item in value.data))
    if value.kind == "text" and asked.unit:
        return number(to_base(value, asked) / asked.factor)
    return value


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copy(item) for key, item in value.items()}
    return [_copy(item) for item in value] if isinstance(value, list | tuple) else value
