"""What a case of a sharding lab is given, and what one process makes of the same: the truth.

A case's `given` in lab.toml describes the model (see `learner.lab.models`), `batch` samples a micro-batch, `steps`,
`micro_batches`, the `optimizer`, and with `same_start = false` that only rank 0's weights are the right ones. Data
differ on every rank. Everything is float64 unless the model says otherwise, so that a wrong factor stands far above
rounding.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from autograder.content import Case
from autograder.judge.lab import Inputs
from autograder.learner.lab import models, training

SGD = {"name": "SGD", "lr": 0.5, "momentum": 0.9}
"""Adam cannot see the scale of a gradient, so a sum in place of a mean hides behind it; SGD shows it."""


def given(case: Case, seed: int) -> list[Inputs]:
    """Inputs of every rank: `model` (the description), `optimizer`, `steps`, `micro_batches`, the tensors `w:<name>`,
    and `x:<step>:<micro-batch>` [batch, d_in] and `y:…` [batch, d_out].
    """
    about = dict(case.given)
    description = about["model"]
    steps, micros, batch = about.get("steps", 3), about.get("micro_batches", 1), about.get("batch", 4)
    generator = torch.Generator().manual_seed(seed)
    dtype = getattr(torch, description.get("dtype", "float64"))
    widths = description["widths"]
    out = widths[0] if description.get("tied") else widths[-1]

    def draw(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, dtype=torch.float64).to(dtype)

    # by the root of the fan-in, so that tanh is neither flat, where gradients become denormal and slow, nor a line
    shapes = {name: p.shape for name, p in models.Stack(**description).named_parameters()}
    start = {name: draw(*shape) / math.sqrt(shape[-1]) for name, shape in shapes.items()}
    made: list[Inputs] = []
    for rank in range(case.world):
        inputs: Inputs = {
            "model": description,
            "optimizer": about.get("optimizer", SGD),
            "steps": steps,
            "micro_batches": micros,
            **about.get("options", {}),
        }
        alone = about.get("same_start", True) or rank == 0
        inputs |= {f"w:{name}": value if alone else draw(*value.shape) for name, value in start.items()}
        for step in range(steps):
            for micro in range(micros):
                inputs[f"x:{step}:{micro}"] = draw(batch, widths[0])
                inputs[f"y:{step}:{micro}"] = draw(batch, out)
        made.append(inputs)
    return made


def truth(inputs: Sequence[Inputs], ranks: Sequence[int] | None = None) -> list[dict[str, Tensor]]:
    """What one process makes of the data of `ranks` (None: all), step by step, from the first one's weights.

    For each step: `grad:<name>`, the mean over ranks and micro-batches, and `param:<name>` after the update; and
    `loss:<rank>:<micro-batch>` of each rank's data before it.
    """
    among = list(range(len(inputs))) if ranks is None else list(ranks)
    first = inputs[among[0]]
    model = models.build(first["model"], training.weights(first))
    optimizer = _optimizer(first, model)
    data = {rank: training.batches(inputs[rank]) for rank in among}
    record = []
    for step in range(int(first["steps"])):
        optimizer.zero_grad()
        found: dict[str, Tensor] = {}
        for rank in among:
            micros = data[rank][step]
            for number, (x, target) in enumerate(micros):
                loss = models.loss_of(model(x), target)
                (loss / (len(micros) * len(among))).backward()
                found[f"loss:{rank}:{number}"] = loss.detach()
        found |= {name: value.clone() for name, value in training.named_gradients(model)}
        optimizer.step()
        found |= {f"param:{name}": p.detach().clone() for name, p in model.named_parameters()}
        record.append(found)
    return record


def _optimizer(inputs: Inputs, model: torch.nn.Module) -> torch.optim.Optimizer:
    kind, options = training.optimizer_of(inputs)
    if kind is training.Hoarder:  # what it hoards changes nothing
        kind, options = torch.optim.SGD, {"lr": options["lr"]}
    return kind(model.parameters(), **options)


def sizes(inputs: Inputs) -> dict[str, int]:
    """Elements of every parameter of the model a rank was given."""
    model = models.Stack(**inputs["model"])
    return {name: p.numel() for name, p in model.named_parameters()}


def width(inputs: Inputs) -> int:
    """Bytes of one parameter's element."""
    return int(getattr(torch, inputs["model"].get("dtype", "float64")).itemsize)


def closeness(inputs: Inputs) -> dict[str, float]:
    """How close values have to come, for `judge.lab.compare`: sums in another order differ by rounding alone."""
    return {"rel": 1e-8, "abs": 1e-10} if width(inputs) == 8 else {"rel": 1e-4, "abs": 1e-6}


def per_step(record: Sequence[Mapping[str, Tensor]], *prefixes: str) -> dict[str, Tensor]:
    """Entries of `truth` whose names begin with one of `prefixes`, as a lab hands them in: `<name>:<step>`."""
    return {
        f"{name}:{step}": value
        for step, found in enumerate(record)
        for name, value in found.items()
        if name.startswith(prefixes)
    }


def losses(record: Sequence[Mapping[str, Tensor]], rank: int) -> dict[str, Tensor]:
    """A rank's losses as `training.Loop` hands them in: `loss:<step>:<micro-batch>`."""
    return {
        f"loss:{step}:{name.rpartition(':')[2]}": value
        for step, found in enumerate(record)
        for name, value in found.items()
        if name.startswith(f"loss:{rank}:")
    }
