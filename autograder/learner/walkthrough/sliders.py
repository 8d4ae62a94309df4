"""`explore`: a picture and, where a person is there to move them, its sliders."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from autograder.learner import wire
from autograder.learner.walkthrough.model import WIDTH, Model
from autograder.learner.walkthrough.picture import Picture, count

LADDERS: dict[str, tuple[Any, ...]] = {
    "P": (10**8, 10**9, 3 * 10**9, 7 * 10**9, 13 * 10**9, 30 * 10**9, 70 * 10**9, 175 * 10**9),
    "N": (1, 2, 3, 4, 8, 16, 64, 256, 1024),
    "dtype": tuple(WIDTH),
    "largest": (10**7, 5 * 10**7, 10**8, 2 * 10**8, 5 * 10**8, 10**9, 2 * 10**9),
    "batch": (1, 2, 4, 8, 16),
    "sequence": (1024, 2048, 4096, 8192),
    "link": (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0),
    "prefetch": (True, False),
    "checkpointed": (False, True),
}
"""What each slider can be set to; a learner's own value is added where it is not among them."""


def explore(picture: Callable[..., Picture], model: Model, /, *moves: str, **fixed: Any) -> None:
    """Shows `picture(model, …)` with a slider for each name in `moves`: fields of Model, or options of the picture.

    `fixed` goes to the picture as it is, or says where a slider starts. The picture stands in the cell's output as a
    plain image that the sliders replace, so a saved notebook shows it without a kernel. While a notebook is graded,
    outside a notebook, and without ipywidgets, the picture comes alone.
    """
    options = {name: value for name, value in fixed.items() if name not in moves or not hasattr(model, name)}
    first = picture(model, **options)
    interactive: Any = sys.modules.get("IPython")
    if interactive is None or interactive.get_ipython() is None:
        print(first)
        return
    from IPython.display import display

    widgets = None if os.environ.get(wire.VARIABLE) else _widgets()
    if widgets is None or not moves:
        display(first)
        return
    controls = _controls(widgets, model, moves, options)
    display(widgets.HBox(list(controls.values()), layout={"flex_flow": "row wrap"}))
    shown = display(first, display_id=True)

    def moved(_: Any) -> None:
        values = {name: control.value for name, control in controls.items()}
        of_model = {name: value for name, value in values.items() if hasattr(model, name)}
        others = {name: value for name, value in values.items() if name not in of_model}
        shown.update(picture(model.moved(**of_model), **{**options, **others}))

    for control in controls.values():
        control.observe(moved, names="value")


def _widgets() -> Any:
    try:
        return importlib.import_module("ipywidgets")
    except ImportError:
        return None


def _controls(widgets: Any, model: Model, moves: Sequence[str], options: dict[str, Any]) -> dict[str, Any]:
    made = {}
    for name in moves:
        now = getattr(model, name) if hasattr(model, name) else options.get(name, LADDERS[name][0])
        if isinstance(now, bool):
            made[name] = widgets.Checkbox(value=now, description=name, indent=False)
            continue
        ladder = sorted({*LADDERS[name], now}) if name != "dtype" else list(LADDERS[name])
        made[name] = widgets.SelectionSlider(
            options=[(_label(name, value), value) for value in ladder],
            value=now,
            description=name,
            continuous_update=False,
        )
    return made


def _label(name: str, value: Any) -> str:
    return count(value) if name in ("P", "largest") else f"{value:g}" if name == "link" else str(value)
