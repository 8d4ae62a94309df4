"""Which option an answer names: "b", " (B) ", "True", "T", the option's own text, a number.

Options are given as the author wrote them (texts, True/False, whole numbers) and named by their text form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from autograder.learner import units
from autograder.learner.values import NotReadable, Value, plain, what

Option = str | bool | int


def one(value: Value, among: Sequence[Option], texts: Mapping[str, str] | None = None) -> str:
    """The option `value` names, by its text; `texts` says what stands behind each option (a letter), and names it as
    well. Raises NotReadable when it names none.
    """
    found = _find(value, among)
    if found is None and texts and value.kind == "text":
        said = _words(value.data)
        found = next((option for option, text in texts.items() if said and _words(text) == said), None)
    if found is None:
        raise NotReadable(f"{_given(value)} is none of the choices: {listed(among)}")
    return found


def several(value: Value, among: Sequence[Option]) -> frozenset[str]:
    """The options named by a list, a set, or a text such as "a, c" or "ac". Raises NotReadable."""
    if value.kind == "list":
        return frozenset(one(item, among) for item in value.data)
    if value.kind != "text" or _find(value, among) is not None:
        return frozenset({one(value, among)})
    if plain(value.data) in ("", "none", "{}", "[]"):
        return frozenset()
    words = [w for w in re.split(r"[\s,;/+&]+|\band\b", value.data.strip(" {}[]()")) if w]
    if any(_find(Value("text", w), among) is None for w in words) and all(len(str(o)) == 1 for o in among):
        words = list("".join(words))
    if len(words) > 100:
        raise NotReadable(f"{_given(value)} is no list of choices; choose from {listed(among)}")
    return frozenset(one(Value("text", word), among) for word in words)


def order(value: Value, among: Sequence[Option], texts: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The options in the order given by a list or a text such as "c a b" or "c > a > b". Raises NotReadable unless each
    option stands in it once.
    """
    if value.kind == "list":
        found = [one(item, among, texts) for item in value.data]
    elif value.kind == "text":
        words = [w for w in re.split(r"[\s,;>/→\-]+", value.data.strip(" {}[]()")) if w]
        if len(words) == 1 and all(len(str(o)) == 1 for o in among):
            words = list(words[0])
        if len(words) > 100:
            raise NotReadable(f"{_given(value)} is no order; write the letters in order, such as 'b a c'")
        found = [one(Value("text", word), among) for word in words]
    else:
        raise NotReadable(f"{_given(value)} is no order; write the letters in order, such as 'b a c'")
    if sorted(found) != sorted(str(o) for o in among):
        raise NotReadable(f"{_given(value)} is no order of {listed(among)}: each of them stands in it once")
    return tuple(found)


def listed(among: Sequence[Option]) -> str:
    """The options in a row, for a message."""
    return ", ".join(str(option) for option in among[:12]) + (", …" if len(among) > 12 else "")


_BOOLS = {"true": "True", "t": "True", "yes": "True", "false": "False", "f": "False", "no": "False"}


def _find(value: Value, among: Sequence[Option]) -> str | None:
    options = {plain(str(option)): str(option) for option in among}
    truths = any(isinstance(option, bool) for option in among)
    match value.kind:
        case "bool":
            return options.get(plain(str(value.data)))
        case "number":
            whole = not isinstance(value.data, float) and value.data.denominator == 1
            return options.get(str(value.data)) if whole else None
        case "text":
            bare = plain(value.data)
            unwrapped = bare.strip(" ().:'\"[]{}")
            found = options.get(bare) or options.get(unwrapped)
            if found is None and truths and unwrapped in _BOOLS:
                found = options.get(plain(_BOOLS[unwrapped]))
            return found
    return None


def _words(text: str) -> str:
    """A choice's text as it is compared: no case, no spacing, no marks of Markdown, no full stop at its end."""
    return plain(re.sub(r"[`*_]", "", text)).strip(" .\"'")


def _given(value: Value) -> str:
    return f"'{units.clip(value.data)}'" if value.kind == "text" else what(value).removeprefix("that is ")
