# ---
# title: "Level 5 · Mastery"
# level: 5
# ---
# %% [markdown]
# # Level 5 · Mastery
#
# **The state is sharded and the run still does not fit. What now?**
#
# After this level you can
#
# - work out what forward keeps for backward, from one tensor to all of GPT-3;
# - say what recomputation saves, at its peak and not only between layers, and what it costs in time;
# - say what tensor and sequence parallelism do to activations;
# - add up the whole budget of a rank, find the part that fills the card, and pull the right lever.
#
# **How answers work.** Replace each `...` and each `raise NotImplementedError()`, run the cell, then run the
# `submit` cell below it. Quantities are texts with a unit, like `"1.5 GB"` or `"250 ms"`, and count as right
# within 1%; GB is $10^9$ bytes, GiB is $2^{30}$ bytes. Functions take and return plain bytes.
#
# **Precision.** Activations are 16-bit, 2 bytes each. Where the training state comes in, it is mixed
# precision in ZeRO's layout: 2 + 2 + 12 bytes a parameter, with bf16 parameters gathered for compute.
#
# | symbol | meaning | GPT-3, in this level |
# |---|---|---|
# | $P$ | parameters | $175 \times 10^9$ |
# | $N$ | ranks that shard the training state | 1024 |
# | $s$ | tokens of a sequence | 2048 |
# | $b$ | sequences a rank works on at once | 8 |
# | $h$ | width of the hidden state | 12288 |
# | $a$ | attention heads | 96 |
# | $L$ | blocks | 96 |

# %% locked="setup"
import math

import matplotlib.pyplot as plt

from autograder import submit

# Colours that stay apart for every kind of colour vision (Okabe and Ito).
BLUE, ORANGE, GREEN, PINK = "#56B4E9", "#E69F00", "#009E73", "#CC79A7"

# %% [markdown]
# ## Exercise 5.1 · One tensor, ninety-six times
#
# Somebody doubles the number of GPUs to cure an out-of-memory error, and it comes back at the same line. Here
# is why. *(6 points)*
#
# Between two blocks of a transformer runs the **hidden state**: $s \times b \times h$ numbers. Backward needs
# it again, so forward keeps it. Each rank makes it from its own sequences; no other rank has it, and FSDP
# does not touch it.
#
# **(a)** At a fixed number of sequences per GPU, $N$ is doubled. The hidden states on a rank are
#
# | | |
# |---|---|
# | **a** | half as large |
# | **b** | as large as before |
# | **c** | gathered when backward needs them, so nearly gone |
#
# **(b)** How large is one hidden state of GPT-3, with the numbers of the table at the top?
#
# **(c)** Each of the 96 blocks keeps its input. How large are these together?
#
# **(d)** Now the *global* batch is fixed: $B$ sequences are dealt to $N$ ranks, as evenly as whole sequences
# allow. Write `block_inputs(B, N, s, h, layers)`: the bytes of (c) on the rank that has the most sequences.
#
# <details><summary>Hint</summary>
#
# Count numbers first, then bytes. For (d): seven sequences on two ranks are 4 and 3. The rank with four of
# them is the one that runs out of memory.
#
# </details>

# %% answer="5.1"
### BEGIN SOLUTION
more_ranks = "b"  # one letter
hidden_state = f"{2048 * 8 * 12288 * 2 / 1e6} MB"  # a text with its unit
all_inputs = f"{96 * 2048 * 8 * 12288 * 2 / 1e9} GB"  # a text with its unit
### END SOLUTION


def block_inputs(B, N, s, h, layers):
    """Bytes of the inputs of all blocks, 16-bit, on the rank with the most of B sequences dealt to N ranks.

    s: tokens of a sequence; h: width of the hidden state; layers: number of blocks.
    """
    ### BEGIN SOLUTION
    return layers * s * math.ceil(B / N) * h * 2
    ### END SOLUTION


# %% check="5.1" points=6
submit(
    "5.1",
    more_ranks=more_ranks,
    hidden_state=hidden_state,
    all_inputs=all_inputs,
    block_inputs=block_inputs,
)
### BEGIN HIDDEN TESTS
shape, N = budget.GPT3, 1024
one = budget.activations.main_tensor(shape)
inputs = budget.activations.kept(shape, "full")


def on(samples, s, h, layers):
    made = budget.Shape(sequence=s, batch=1, hidden=h, heads=1, layers=layers)
    return samples * budget.activations.kept(made, "full")


expect.choice(
    "more_ranks",
    "b",
    among="abc",
    wrong={"a": "activations-are-sharded", "c": "activations-are-gathered"},
    because="Every rank keeps the activations of its own sequences, whatever N is.",
)
expect.quantity(
    "hidden_state",
    budget.mb(one),
    wrong={
        budget.mb(2 * one): "activations-in-fp32",
        budget.mb(one / budget.Fraction(2)): "numbers-are-not-bytes",
        budget.mb(budget.Fraction(one, shape.batch)): "one-sample-for-the-batch",
        budget.mb(budget.Fraction(one, N)): "activations-are-sharded",
        budget.mistaken_gib(one): "gib-for-gb",
    },
)
expect.quantity(
    "all_inputs",
    budget.gb(inputs),
    wrong={
        budget.gb(one): "one-layer-for-the-model",
        budget.gb(2 * inputs): "activations-in-fp32",
        budget.gb(inputs / N): "activations-are-sharded",
        budget.gb(inputs / shape.batch): "one-sample-for-the-batch",
        budget.mistaken_gib(inputs): "gib-for-gb",
    },
    because="Each block keeps one hidden state of its own: 2sbh bytes, 96 times.",
)
expect.function(
    "block_inputs",
    like=lambda B, N, s, h, layers: on(-(-B // N), s, h, layers),
    given={
        "B": draw.integers(2, 999),
        "N": draw.choice([2, 3, 4, 8, 64]),
        "s": draw.choice([1024, 2048, 4096]),
        "h": draw.choice([1024, 4096, 12288]),
        "layers": draw.integers(2, 100),
    },
    edges=[
        {"B": 12, "N": 1, "s": 8, "h": 16, "layers": 2},
        {"B": 3, "N": 8, "s": 8, "h": 16, "layers": 2},
        {"B": 7, "N": 2, "s": 8, "h": 16, "layers": 1},
    ],
    examples=[
        {"B": 64, "N": 8, "s": 2048, "h": 4096, "layers": 32},
        {"B": 7, "N": 2, "s": 1024, "h": 1024, "layers": 2},
    ],
    wrong={
        "activations-ignore-the-batch": lambda B, N, s, h, layers: on(B, s, h, layers),
        "fullest-rank-forgotten": lambda B, N, s, h, layers: on(
            budget.Fraction(B, N), s, h, layers
        ),
        "activations-are-sharded": lambda B, N, s, h, layers: on(
            budget.Fraction(-(-B // N), N), s, h, layers
        ),
        "one-layer-for-the-model": lambda B, N, s, h, layers: on(-(-B // N), s, h, 1),
        "activations-in-fp32": lambda B, N, s, h, layers: 2 * on(-(-B // N), s, h, layers),
    },
    weight=2,
)
### END HIDDEN TESTS

# %% [markdown]
# **What this means in practice.** Two sentences that sound alike, and only one of them is true of your run:
# *"activations do not change with N"* holds at a fixed number of sequences per GPU; *"more GPUs, smaller
# activations"* holds for a fixed global batch, and holds for plain data parallelism just as well. Ask which
# batch is fixed before you count. And 38.65 GB is a floor: it is what a rank keeps if it keeps nothing but
# the inputs of its blocks. The next exercises show how far above it a run without recomputation lies.

# %% [markdown]
# ## Exercise 5.2 · What recomputing costs
#
# **Activation checkpointing** keeps the input of a block and nothing else. When backward reaches the block,
# its forward runs once more to make the rest again. Memory for time: how much time? *(5 points)*
#
# A layer's forward takes 200 ms. Backward does two matmuls for each one of forward: one for the gradient of
# the input, one for the gradient of the weight.
#
# **(a)** How long does backward take when the layer is checkpointed, the recomputation counted in?
#
# **(b)** How long is the whole step of this layer then?
#
# **(c)** By how many per cent is that longer than the step without checkpointing?
#
# **(d)** Some layers are checkpointed and some are not. Write `step_time(forward, recompute)`: `forward` is a
# list of the layers' forward times and `recompute` a list of `True` and `False`, one for each layer. Nothing
# overlaps.
#
# **(e)** A run fits its card at the batch it needs, with 30 GB to spare. Should it checkpoint?
#
# | | |
# |---|---|
# | **a** | yes: it saves memory and costs no time worth mentioning |
# | **b** | no: it would pay time for memory that nobody uses |
# | **c** | yes: FSDP needs it to work |
#
# <details><summary>Hint</summary>
#
# What is added is one forward of the layer, no more and no less. "A third" is a third of the *step*: one
# forward and a backward twice as long are three forwards, and one is added.
#
# </details>

# %% answer="5.2"
### BEGIN SOLUTION
backward = f"{2 * 200 + 200} ms"  # a text with its unit
whole_step = f"{200 + 600} ms"  # a text with its unit
longer = f"{100 * 200 / 600} %"  # per cent, e.g. "12.5 %"
decision = "b"  # one letter
### END SOLUTION


def step_time(forward, recompute):
    """Time of forward and backward over all layers, in the unit of `forward`.

    forward: list of forward times; recompute: list of bool, True where the layer is checkpointed.
    """
    ### BEGIN SOLUTION
    return sum((4 if again else 3) * f for f, again in zip(forward, recompute, strict=True))
    ### END SOLUTION


# %% check="5.2" points=5
submit(
    "5.2",
    backward=backward,
    whole_step=whole_step,
    longer=longer,
    step_time=step_time,
    decision=decision,
)
### BEGIN HIDDEN TESTS
forward = 200
plain = budget.time.backward_time(forward)
again = budget.time.backward_time(forward, recompute=True)
third = plain + budget.Fraction(plain, 3)


def layers(forward, recompute, extra=1, back=2):
    return sum(
        f + back * f + (extra * f if r else 0)
        for f, r in zip(forward, recompute, strict=True)
    )


def some_layers(rng):
    count = rng.randint(2, 9)
    chosen = [True, False, *(rng.random() < 0.5 for _ in range(count - 2))]
    rng.shuffle(chosen)
    return {"forward": [rng.randint(1, 500) for _ in range(count)], "recompute": chosen}


def ms(value):
    return f"{budget.number(value)} ms"


expect.quantity(
    "backward",
    ms(again),
    wrong={
        ms(plain): "checkpointing-is-free",
        ms(third): "a-third-of-backward",
        ms(2 * plain): "checkpointing-doubles-backward",
        ms(forward): "backward-costs-one-forward",
    },
    because="Two matmuls for each one of forward, and forward once more.",
)
expect.quantity(
    "whole_step",
    ms(forward + again),
    wrong={
        ms(forward + plain): "checkpointing-is-free",
        ms(forward + third): "a-third-of-backward",
        ms(forward + 2 * plain): "checkpointing-doubles-backward",
    },
)
expect.quantity(
    "longer",
    f"{budget.number(100 * budget.Fraction(again - plain, forward + plain))} %",
    wrong={
        f"{budget.number(100 * budget.Fraction(again - plain, plain))} %": "share-of-the-wrong-whole",
        f"{budget.number(100 * budget.Fraction(again - plain, forward))} %": "share-of-the-wrong-whole",
        f"{budget.number(100 * budget.Fraction(again - plain, forward + again))} %": (
            "share-of-the-wrong-whole"
        ),
    },
)
expect.function(
    "step_time",
    like=layers,
    given=draw.make(some_layers),
    edges=[
        {"forward": [200], "recompute": [True]},
        {"forward": [5, 7], "recompute": [False, False]},
        {"forward": [5, 7, 9], "recompute": [True, True, True]},
    ],
    examples=[
        {"forward": [200, 100], "recompute": [True, False]},
        {"forward": [10], "recompute": [False]},
    ],
    wrong={
        "checkpointing-is-free": lambda forward, recompute: layers(forward, recompute, 0),
        "checkpointing-doubles-backward": lambda forward, recompute: layers(
            forward, recompute, 2
        ),
        "a-third-of-backward": lambda forward, recompute: layers(
            forward, recompute, budget.Fraction(2, 3)
        ),
        "backward-costs-one-forward": lambda forward, recompute: layers(
            forward, recompute, 1, 1
        ),
        "all-layers-are-recomputed": lambda forward, recompute: 4 * sum(forward),
    },
    weight=2,
)
expect.choice(
    "decision",
    "b",
    among="abc",
    wrong={"a": "checkpointing-is-free", "c": "fsdp-needs-checkpointing"},
)
### END HIDDEN TESTS

# %% [markdown]
# **What this means in practice.** From 600 to 800 ms: a third more for every checkpointed layer. It pays where
# activations are what stops you, and it can pay twice: if the memory it frees lets the batch grow, and with
# it the arithmetic that each gather is spread over, the run may end up faster than before. Measure tokens a
# second, not milliseconds a step. And checkpoint as many layers as you must, no more: frameworks let you
# choose them.
#
# Under FSDP the second forward needs the weights. Backward gathers them anyway, so recomputing a unit adds no
# gather as long as checkpoint and FSDP unit are the same block.

# %% [markdown]
# ## Exercise 5.3 · A budget that somebody posted
#
# *"GPT-3 on 1024 GPUs: 16 bytes a parameter sharded, 1.5 GB for the gathered layer, 30 GB of activations with
# checkpointing. Fits on 80 GB."* Add it up, then check what it takes for granted. *(6 points)*
#
# **(a)** How much training state does one of the 1024 ranks hold, fully sharded?
#
# **(b)** With the 1.5 GB and the 30 GB as they are stated: how much in total?
#
# **(c)** Now check the 1.5 GB. The matrices of one GPT-3 block hold $12h^2$ parameters, and each block is an
# FSDP unit. How much do the gathered parameters of one unit take?
#
# **(d)** Write `rank_budget(P, N, unit, width, activations)`: a list of three numbers of bytes, the state, the
# gathered parameters of one unit, and the sum of both and the activations.
#
# **(e)** Write `largest_part(P, N, unit, width, activations)`: which of the three is the largest, as one of
# the texts `"state"`, `"gathered"`, `"activations"`.
#
# **(f)** Take the numbers of (b). The next GB is best saved by
#
# | | |
# |---|---|
# | **a** | more ranks |
# | **b** | fewer or shorter sequences on a rank, or more recomputation |
# | **c** | an optimizer with 8-bit moments |
# | **d** | smaller FSDP units |
#
# <details><summary>Hint</summary>
#
# Nothing here is harder than a division and a sum. For (c) mind the width of what a gather moves, and that
# the gathered unit is whole on every rank.
#
# </details>

# %% answer="5.3"
### BEGIN SOLUTION
state = f"{16 * 175 / 1024} GB"  # a text with its unit
total = f"{16 * 175 / 1024 + 1.5 + 30} GB"  # a text with its unit
one_unit = f"{2 * 12 * 12288**2 / 1e9} GB"  # a text with its unit
next_gb = "b"  # one letter
### END SOLUTION


def rank_budget(P, N, unit, width, activations):
    """[state, gathered unit, sum of both and the activations], in bytes, on one of N ranks.

    P: parameters, 16 bytes each, fully sharded; unit: parameters of the largest unit, gathered at `width`
    bytes each; activations: bytes that this rank keeps.
    """
    ### BEGIN SOLUTION
    shard, gathered = 16 * P / N, unit * width
    return [shard, gathered, shard + gathered + activations]
    ### END SOLUTION


def largest_part(P, N, unit, width, activations):
    """Which part is the largest: "state", "gathered" or "activations"."""
    ### BEGIN SOLUTION
    parts = {"state": 16 * P / N, "gathered": unit * width, "activations": activations}
    return max(parts, key=parts.get)
    ### END SOLUTION


# %% check="5.3" points=6
submit(
    "5.3",
    state=state,
    total=total,
    one_unit=one_unit,
    rank_budget=rank_budget,
    largest_part=largest_part,
    next_gb=next_gb,
)
### BEGIN HIDDEN TESTS
P, N, regime = 175 * 10**9, 1024, budget.MIXED
quoted, activations = budget.Fraction(3, 2) * 10**9, 30 * 10**9
shard = budget.state(budget.Method.ZERO3, P, N, regime).total
replica = budget.state(budget.Method.DP, P, N, regime).total
unit = budget.gpt_block(budget.GPT3.hidden)
gathered = unit * regime.compute


def parts(P, N, unit, width, activations):
    return [budget.Fraction(16 * P, N), unit * width, activations]


def summed(state, gathered, activations):
    return [state, gathered, state + gathered + activations]


def name_of(state, gathered, activations):
    named = {"state": state, "gathered": gathered, "activations": activations}
    return max(named, key=lambda name: named[name])


def some_budget(rng):
    width = rng.choice([2, 4])
    P, N = rng.randint(1, 400) * 10**9, rng.choice([2, 3, 8, 64, 512])
    shard = 16 * P // N
    return {
        "P": P,
        "N": N,
        "unit": round(shard * rng.choice([0.1, 0.5, 3.0]) / width),
        "width": width,
        "activations": round(shard * rng.choice([0.2, 0.7, 5.0])),
    }


cases = {
    "given": draw.make(some_budget),
    "draws": 16,
    "edges": [
        {"P": 10**9, "N": 1, "unit": 10**8, "width": 2, "activations": 10**9},
        {"P": 10**9, "N": 512, "unit": 10**8, "width": 4, "activations": 0},
    ],
    "examples": [
        {"P": 10**9, "N": 8, "unit": 10**8, "width": 2, "activations": 10**9},
        {"P": 8 * 10**9, "N": 64, "unit": 2 * 10**9, "width": 2, "activations": 10**9},
        {"P": 8 * 10**9, "N": 64, "unit": 10**8, "width": 4, "activations": 9 * 10**9},
    ],
}
expect.quantity(
    "state",
    budget.gb(shard),
    wrong={
        budget.gb(replica): "state-is-replicated",
        budget.gb(
            budget.state(budget.Method.ZERO1, P, N, regime).total
        ): "zero-stage-mixed-up",
        budget.gb(
            budget.Fraction((regime.param + regime.grad) * P, N)
        ): "optimizer-state-forgotten",
        budget.gb(budget.Fraction(regime.param * P, N)): "parameters-are-the-state",
        budget.mistaken_gib(shard): "gib-for-gb",
    },
)
expect.quantity(
    "total",
    budget.gb(shard + quoted + activations),
    wrong={
        budget.gb(shard + quoted): "activations-forgotten",
        budget.gb(shard + activations): "full-layer-never-exists",
        budget.gb((replica + quoted + activations) / N): "everything-divides-by-n",
        budget.gb(replica + quoted + activations): "state-is-replicated",
    },
)
expect.quantity(
    "one_unit",
    budget.gb(gathered),
    wrong={
        budget.gb(quoted): "rule-of-thumb-is-law",
        budget.gb(unit * 4): "gather-uses-the-stored-width",
        budget.gb(unit * regime.total): "gather-moves-the-whole-state",
        budget.gb(budget.Fraction(gathered, N)): "fsdp-splits-the-matmul",
        budget.gb(P * regime.compute): "gather-rebuilds-whole-model",
    },
    because="12 h² parameters at 2 bytes each: more than twice the 1.5 GB of the post.",
)
expect.function(
    "rank_budget",
    like=lambda P, N, unit, width, activations: summed(
        *parts(P, N, unit, width, activations)
    ),
    **cases,
    wrong={
        "state-is-replicated": lambda P, N, unit, width, activations: summed(
            *parts(P, 1, unit, width, activations)
        ),
        "activations-are-sharded": lambda P, N, unit, width, activations: summed(
            *parts(P, N, unit, width, budget.Fraction(activations, N))
        ),
        "activations-forgotten": lambda P, N, unit, width, activations: summed(
            *parts(P, N, unit, width, 0)
        ),
        "gather-moves-the-whole-state": lambda P, N, unit, width, activations: summed(
            *parts(P, N, unit, 16, activations)
        ),
    },
)
expect.function(
    "largest_part",
    like=lambda P, N, unit, width, activations: name_of(
        *parts(P, N, unit, width, activations)
    ),
    **cases,
    wrong={
        "state-is-replicated": lambda P, N, unit, width, activations: name_of(
            *parts(P, 1, unit, width, activations)
        ),
        "gather-moves-the-whole-state": lambda P, N, unit, width, activations: name_of(
            *parts(P, N, unit, 16, activations)
        ),
        "activations-are-sharded": lambda P, N, unit, width, activations: name_of(
            *parts(P, N, unit, width, budget.Fraction(activations, N))
        ),
    },
)
expect.choice(
    "next_gb",
    "b",
    among="abcd",
    wrong={
        "a": "more-ranks-always-help",
        "c": "smallest-part-first",
        "d": "smallest-part-first",
    },
    because="Activations are 30 of the 34 GB. What is small cannot save much.",
)
### END HIDDEN TESTS

# %% [markdown]
# **What this means in practice.** The sum of the post is right, 34.23 GB, and its lesson too: once the state is
# cut into a thousand pieces, activations are what fills the card. But two of its three terms were guessed. A
# GPT-3 block gathers 3.62 GB, and for a moment three of them stand in memory, as in 2.2. And 30 GB of
# activations lie below the 38.65 GB that checkpointing keeps with eight sequences on a rank: no run with
# $b = 8$ can have them. A budget is as good as its worst term, so work each one out.

# %% [markdown]
# ## Exercise 5.4 · All that a block keeps
#
# The hidden state between blocks was one tensor. Inside a block stand many more, and one of them grows with
# the *square* of the sequence. *(6 points)*
#
# This is what one block keeps for backward, in units of $sbh$ bytes, with 2-byte activations and 1-byte
# dropout masks (arXiv 2205.05198):
#
# | in the block | kept | $sbh$ bytes |
# |---|---|---|
# | attention, without scores | inputs of the first and the last matmul; queries, keys, values; dropout mask | 11 |
# | attention scores | softmax output, its dropout mask, what the dropout gives: $5as^2b$ bytes | $5as/h$ |
# | MLP | inputs of both matmuls and of the GELU; dropout mask | 19 |
# | two layer norms | their inputs | 4 |
#
# Together: $sbh\left(34 + 5\,\frac{as}{h}\right)$ bytes.
#
# **(a)** Which of these does a block keep from forward for backward, without checkpointing, under FSDP?
#
# | | |
# |---|---|
# | **a** | the input of a matmul, for the gradient of its weight |
# | **b** | the output of the softmax, for the softmax's own gradient |
# | **c** | the gathered weights, for the gradient of the input |
# | **d** | the mask of a dropout |
# | **e** | both inputs of a residual addition, for the addition's own gradient |
#
# **(b)** How much does one GPT-3 block keep?
#
# **(c)** And all 96 of them?
#
# **(d)** FlashAttention works out attention in tiles and never stores the scores. How much do the 96 blocks
# keep with it?
#
# **(e)** Write `block_bytes(s, b, h, a, store_scores)`.
#
# **(f)** With stored scores, the sequence is made twice as long. The *scores* take how many times as much?
# Give a whole number.
#
# <details><summary>Hint</summary>
#
# For (a): what does the formula of each gradient need? An addition passes its gradient on as it is. For (b),
# $5as/h$ is a whole number here.
#
# </details>

# %% answer="5.4"
### BEGIN SOLUTION
kept_for_backward = {"a", "b", "d"}  # letters, e.g. {"a", "e"}
one_block = f"{2048 * 8 * 12288 * (34 + 5 * 96 * 2048 / 12288) / 1e9} GB"  # with its unit
all_blocks = f"{96 * 2048 * 8 * 12288 * (34 + 80) / 1e9} GB"  # with its unit
with_flash = f"{96 * 2048 * 8 * 12288 * 34 / 1e9} GB"  # with its unit
times_the_scores = 4  # a whole number
### END SOLUTION


def block_bytes(s, b, h, a, store_scores):
    """Bytes that one block keeps for backward.

    s: tokens, b: sequences, h: width, a: heads; store_scores: False with FlashAttention.
    """
    ### BEGIN SOLUTION
    return 34 * s * b * h + (5 * a * s * s * b if store_scores else 0)
    ### END SOLUTION


# %% check="5.4" points=6
submit(
    "5.4",
    kept_for_backward=kept_for_backward,
    one_block=one_block,
    all_blocks=all_blocks,
    with_flash=with_flash,
    block_bytes=block_bytes,
    times_the_scores=times_the_scores,
)
### BEGIN HIDDEN TESTS
shape, model = budget.GPT3, budget.activations
one, bare = model.block(shape), model.block(shape, store_scores=False)
stored, flash = model.kept(shape, "none"), model.kept(shape, "scores")
one_head = bare + model.scores(shape) / shape.heads


def block(s, b, h, a, store_scores):
    made = budget.Shape(sequence=s, batch=b, hidden=h, heads=a, layers=1)
    return model.block(made, store_scores=store_scores)


expect.choices(
    "kept_for_backward",
    right={"a", "b", "d"},
    among="abcde",
    wrong={"c": "weights-kept-after-forward", "e": "every-tensor-is-kept"},
)
expect.quantity(
    "one_block",
    budget.gb(one),
    wrong={
        budget.gb(bare): "scores-forgotten",
        budget.gb(one_head): "heads-forgotten",
        budget.gb(model.main_tensor(shape)): "one-tensor-a-block",
        budget.gb(2 * one): "activations-in-fp32",
        budget.mistaken_gib(one): "gib-for-gb",
    },
    because="34 for everything but the scores, and 80 for them.",
)
expect.quantity(
    "all_blocks",
    budget.gb(stored),
    wrong={
        budget.gb(one): "one-layer-for-the-model",
        budget.gb(flash): "scores-forgotten",
        budget.gb(model.kept(shape, "full")): "one-tensor-a-block",
        budget.gb(2 * stored): "activations-in-fp32",
        budget.mistaken_gib(stored): "gib-for-gb",
    },
)
expect.quantity(
    "with_flash",
    budget.gb(flash),
    wrong={
        budget.gb(stored): "scores-always-stored",
        budget.gb(bare): "one-layer-for-the-model",
        budget.gb(model.kept(shape, "full")): "flash-is-checkpointing",
        budget.gb(2 * flash): "activations-in-fp32",
    },
    because="The term with a is gone, and 34sbh a block is left.",
)
expect.function(
    "block_bytes",
    like=block,
    given={
        "s": draw.integers(256, 8192),
        "b": draw.integers(1, 16),
        "h": draw.choice([1024, 2048, 4096, 12288]),
        "a": draw.choice([8, 16, 32, 96]),
        "store_scores": draw.booleans(),
    },
    draws=16,
    edges=[
        {"s": 1, "b": 1, "h": 64, "a": 1, "store_scores": True},
        {"s": 128, "b": 2, "h": 256, "a": 4, "store_scores": False},
    ],
    examples=[
        {"s": 2048, "b": 1, "h": 4096, "a": 32, "store_scores": True},
        {"s": 1024, "b": 2, "h": 1024, "a": 16, "store_scores": False},
    ],
    wrong={
        "scores-forgotten": lambda s, b, h, a, store_scores: block(s, b, h, a, False),
        "scores-always-stored": lambda s, b, h, a, store_scores: block(s, b, h, a, True),
        "heads-forgotten": lambda s, b, h, a, store_scores: block(s, b, h, 1, store_scores),
        "scores-grow-with-s": lambda s, b, h, a, store_scores: (
            block(s, b, h, a, False) + (5 * a * s * b if store_scores else 0)
        ),
        "one-tensor-a-block": lambda s, b, h, a, store_scores: 2 * s * b * h,
    },
    weight=2,
)
expect.quantity(
    "times_the_scores",
    4,
    rel=0,
    wrong={2: "scores-grow-with-s", 1: "scores-forgotten", 8: "scores-grow-with-heads"},
    because="They are a table of tokens against tokens.",
)
### END HIDDEN TESTS

# %% [markdown]
# Your `block_bytes` as a picture: one GPT-3 block with one sequence, longer and longer.

# %%
try:
    lengths = [1024, 2048, 4096, 8192]
    flash = [block_bytes(s, 1, 12288, 96, False) / 1e9 for s in lengths]
    stored = [block_bytes(s, 1, 12288, 96, True) / 1e9 for s in lengths]
except NotImplementedError:
    print(
        "Write block_bytes(s, b, h, a, store_scores) in 5.4, run its cell, then run this again."
    )
else:
    fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
    scores = [more - less for more, less in zip(stored, flash, strict=True)]
    places = range(len(lengths))
    ax.bar(places, flash, 0.6, color=BLUE, edgecolor="black", label="all but the scores")
    bars = ax.bar(
        places,
        scores,
        0.6,
        flash,
        color=ORANGE,
        edgecolor="black",
        hatch="//",
        label="scores",
    )
    for place, height in enumerate(stored):
        ax.text(place, height, f"{height:.1f}", ha="center", va="bottom")
    ax.margins(y=0.1)
    ax.set(xticks=places, xticklabels=lengths, xlabel="tokens s", ylabel="GB a block")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="upper left")
    plt.show()

# %% [markdown]
# *Picture: four bars for sequences of 1024 to 8192 tokens. The lower part, all but the scores, doubles from bar
# to bar; the hatched upper part, the scores, becomes four times as high, and soon is nearly all of the bar.*
#
# **What this means in practice.** A rank of this run would keep 2,203 GB with stored scores, and 657 GB with
# FlashAttention: neither fits any card. Use an attention that does not store scores in every case; its
# savings cost no accuracy and usually no time. What is left is 17 times the 38.65 GB of the block inputs,
# which is where checkpointing comes in. Newer blocks differ in the 34 (no dropout, a gated MLP, grouped keys
# and values), not in the way of counting: go through the block and ask of each operation what its gradient
# needs.

# %% [markdown]
# ## Exercise 5.5 · Checkpointing at its fullest moment
#
# "Checkpointing keeps 38.65 GB" is what stands *between* blocks. The run dies *inside* one. *(6 points)*
#
# With full checkpointing every block keeps its input. When backward reaches a block, all that the block would
# have kept is made again, used, and freed before the next block is reached. Take GPT-3 with $b = 8$.
#
# **(a)** How much do all blocks keep together?
#
# **(b)** How much is there at the fullest moment, if the block that is made again stores its scores?
#
# **(c)** And if it does not, with FlashAttention?
#
# **(d)** The post of 5.3 had 30 GB of activations, at the peak and with stored scores. What is the largest
# whole number of sequences on a rank for that?
#
# **(e)** Write `checkpointed_peak(s, b, h, a, layers, store_scores)`, the bytes at the fullest moment.
#
# **(f)** Write `largest_batch(s, h, a, layers, store_scores, room)`: the largest $b$ whose peak is at most
# `room` bytes, 0 if one sequence is too much.
#
# <details><summary>Hint</summary>
#
# The peak is a sum of two terms, and only one of them has a factor $L$. Every term has a factor $b$, so for
# (f) work out one sequence first.
#
# </details>

# %% answer="5.5"
### BEGIN SOLUTION
kept_inputs = f"{96 * 2 * 2048 * 8 * 12288 / 1e9} GB"  # a text with its unit
peak_stored = f"{(96 * 2 + 34 + 80) * 2048 * 8 * 12288 / 1e9} GB"  # a text with its unit
peak_flash = f"{(96 * 2 + 34) * 2048 * 8 * 12288 / 1e9} GB"  # a text with its unit
sequences = 3  # a whole number
### END SOLUTION


def checkpointed_peak(s, b, h, a, layers, store_scores):
    """Bytes of activations at the fullest moment, with every block checkpointed.

    store_scores: whether the block that is made again stores its attention scores.
    """
    ### BEGIN SOLUTION
    again = 34 * s * b * h + (5 * a * s * s * b if store_scores else 0)
    return layers * 2 * s * b * h + again
    ### END SOLUTION


def largest_batch(s, h, a, layers, store_scores, room):
    """The largest number of sequences whose checkpointed peak is at most `room` bytes; 0 if none is."""
    ### BEGIN SOLUTION
    return room // checkpointed_peak(s, 1, h, a, layers, store_scores)
    ### END SOLUTION


# %% check="5.5" points=6
submit(
    "5.5",
    kept_inputs=kept_inputs,
    peak_stored=peak_stored,
    peak_flash=peak_flash,
    sequences=sequences,
    checkpointed_peak=checkpointed_peak,
    largest_batch=largest_batch,
)
### BEGIN HIDDEN TESTS
shape, model, room = budget.GPT3, budget.activations, 30 * 10**9
kept, all_kept = model.kept(shape, "full"), model.kept(shape, "none")
one, bare = model.block(shape), model.block(shape, store_scores=False)
stored = model.peak(shape, "full")
flash = model.peak(shape, "full", store_scores=False)


def made(s, h, a, layers, b=1):
    return budget.Shape(sequence=s, batch=b, hidden=h, heads=a, layers=layers)


def peak(s, b, h, a, layers, store_scores):
    return model.peak(made(s, h, a, layers, b), "full", store_scores=store_scores)


def most(s, h, a, layers, store_scores, room):
    return model.largest_batch(
        made(s, h, a, layers), room, "full", store_scores=store_scores
    )


def by_inputs_alone(s, h, a, layers, store_scores, room):
    return int(room // model.kept(made(s, h, a, layers), "full"))


def rounded_up(s, h, a, layers, store_scores, room):
    each = peak(s, 1, h, a, layers, store_scores)
    return math.ceil(budget.Fraction(room) / each)


expect.quantity(
    "kept_inputs",
    budget.gb(kept),
    wrong={
        budget.gb(all_kept): "checkpointing-keeps-the-block",
        budget.gb(one): "one-layer-for-the-model",
        budget.gb(all_kept / 10): "rule-of-thumb-is-law",
        budget.gb(2 * kept): "activations-in-fp32",
    },
)
expect.quantity(
    "peak_stored",
    budget.gb(stored),
    wrong={
        budget.gb(kept): "peak-is-what-is-kept",
        budget.gb(one): "checkpoints-forgotten",
        budget.gb(flash): "scores-forgotten",
        budget.gb(kept + all_kept): "all-blocks-at-once",
        budget.mistaken_gib(stored): "gib-for-gb",
    },
    because="All block inputs, and everything of one block.",
)
expect.quantity(
    "peak_flash",
    budget.gb(flash),
    wrong={
        budget.gb(kept): "peak-is-what-is-kept",
        budget.gb(bare): "checkpoints-forgotten",
        budget.gb(stored): "scores-always-stored",
        budget.mistaken_gib(flash): "gib-for-gb",
    },
)
expect.quantity(
    "sequences",
    model.largest_batch(shape, room, "full"),
    rel=0,
    wrong={
        rounded_up(shape.sequence, shape.hidden, shape.heads, shape.layers, True, room): (
            "batch-rounded-up"
        ),
        by_inputs_alone(
            shape.sequence, shape.hidden, shape.heads, shape.layers, True, room
        ): ("peak-is-what-is-kept"),
        model.largest_batch(shape, room, "full", store_scores=False): "scores-forgotten",
    },
    because="One sequence takes 7.70 GB at the peak.",
)
expect.function(
    "checkpointed_peak",
    like=peak,
    given={
        "s": draw.integers(256, 8192),
        "b": draw.integers(1, 16),
        "h": draw.choice([1024, 4096, 12288]),
        "a": draw.choice([8, 32, 96]),
        "layers": draw.integers(2, 120),
        "store_scores": draw.booleans(),
    },
    draws=16,
    edges=[
        {"s": 128, "b": 2, "h": 64, "a": 4, "layers": 1, "store_scores": True},
        {"s": 1, "b": 1, "h": 64, "a": 1, "layers": 3, "store_scores": False},
    ],
    examples=[
        {"s": 2048, "b": 1, "h": 4096, "a": 32, "layers": 32, "store_scores": True},
        {"s": 1024, "b": 2, "h": 1024, "a": 16, "layers": 12, "store_scores": False},
    ],
    wrong={
        "peak-is-what-is-kept": lambda s, b, h, a, layers, store_scores: model.kept(
            made(s, h, a, layers, b), "full"
        ),
        "checkpoints-forgotten": lambda s, b, h, a, layers, store_scores: model.block(
            made(s, h, a, layers, b), store_scores=store_scores
        ),
        "scores-always-stored": lambda s, b, h, a, layers, store_scores: peak(
            s, b, h, a, layers, True
        ),
        "scores-forgotten": lambda s, b, h, a, layers, store_scores: peak(
            s, b, h, a, layers, False
        ),
        "all-blocks-at-once": lambda s, b, h, a, layers, store_scores: (
            model.kept(made(s, h, a, layers, b), "full")
            + layers * model.block(made(s, h, a, layers, b), store_scores=store_scores)
        ),
    },
    weight=2,
)
expect.function(
    "largest_batch",
    like=most,
    given={
        "s": draw.choice([1024, 2048, 4096]),
        "h": draw.choice([2048, 4096, 8192]),
        "a": draw.choice([16, 32, 64]),
        "layers": draw.integers(16, 96),
        "store_scores": draw.booleans(),
        "room": draw.integers(20 * 10**9, 120 * 10**9),
    },
    draws=16,
    edges=[
        {
            "s": 2048,
            "h": 12288,
            "a": 96,
            "layers": 96,
            "store_scores": True,
            "room": 7 * 10**9,
        },
        {"s": 1, "h": 1, "a": 1, "layers": 3, "store_scores": False, "room": 400},
    ],
    examples=[
        {
            "s": 2048,
            "h": 4096,
            "a": 32,
            "layers": 32,
            "store_scores": False,
            "room": 40 * 10**9,
        },
        {
            "s": 4096,
            "h": 4096,
            "a": 32,
            "layers": 32,
            "store_scores": True,
            "room": 40 * 10**9,
        },
    ],
    wrong={
        "peak-is-what-is-kept": by_inputs_alone,
        "batch-rounded-up": rounded_up,
        "scores-always-stored": lambda s, h, a, layers, store_scores, room: most(
            s, h, a, layers, True, room
        ),
    },
    weight=2,
)
### END HIDDEN TESTS

# %% [markdown]
# A run of six blocks over time, in units of the input of one block. Blue: without checkpointing. Orange: with it.

# %%
blocks, block, again = 6, 17, 17  # 34sbh are 17 times the 2sbh of an input
plain = [block * done for done in range(1, blocks + 1)]
plain += [block * left for left in range(blocks, -1, -1)]
saved = [float(done) for done in range(1, blocks + 1)]
for left in range(blocks, 0, -1):
    saved += [left + again, left - 1]
fig, ax = plt.subplots(figsize=(7.5, 3.4), layout="constrained")
ax.plot(
    range(len(plain)),
    plain,
    color=BLUE,
    linewidth=2.5,
    marker="o",
    label="no checkpointing",
)
when = [*range(blocks), *(blocks + step / 2 for step in range(2 * blocks))]
ax.plot(
    when, saved, color=ORANGE, linewidth=2.5, marker="s", label="every block checkpointed"
)
ax.axvline(blocks - 0.5, color="black", linestyle=":", linewidth=1)
ax.text(blocks - 0.7, max(plain), "forward", ha="right", va="top")
ax.text(blocks - 0.3, max(plain), "backward", ha="left", va="top")
ax.set(xticks=[], xlabel="time →", ylabel="inputs of one block", ylim=(0, None))
ax.spines[["top", "right"]].set_visible(False)
ax.legend(frameon=False, loc="upper left")
plt.show()

# %% [markdown]
# *Picture: without checkpointing the line climbs through forward to 102 block inputs and falls again through
# backward. With it the line climbs to 6 only, and in backward shows six teeth, each one block high, on a base
# that falls from 6 to 0. The first tooth is the peak.*
#
# **What this means in practice.** "Checkpointing saves 10×" is no law. For GPT-3 with stored scores, what is kept
# shrinks 57-fold and the peak 36-fold; without stored scores it is 17 and 14. Few blocks save less: the
# tooth is as high as ever, and only the base shrinks. Where the tooth is what hurts, checkpoint parts of the
# block, or drop the scores.

# %% [markdown]
# ## Exercise 5.6 · When the block itself is cut
#
# FSDP leaves activations whole. Tensor parallelism cuts a block's matrices over $t$ ranks, and with them a
# part of the activations. Which part decides whether eight-way means an eighth. *(6 points)*
#
# Of the $34 + 5as/h$ of 5.4, tensor parallelism divides by $t$ what lies *between* two cut matrices: queries,
# keys, values, scores, and the wide middle of the MLP: $24 + 5as/h$. The other 10 stay whole on each of the
# $t$ ranks: layer-norm inputs, inputs of the cut regions, and the dropout masks behind them.
#
# **Sequence parallelism** cuts those 10 too, along the sequence: each rank holds $s/t$ of the tokens there.
#
# **(a)** Which of these stay whole on each rank under tensor parallelism without sequence parallelism?
#
# | | |
# |---|---|
# | **a** | the input of a layer norm |
# | **b** | the attention scores |
# | **c** | the input of the GELU |
# | **d** | the input of the query, key and value matmuls |
# | **e** | the mask of the dropout behind the MLP |
#
# **(b)** GPT-3, $b = 8$, $t = 8$, stored scores: how much does a rank keep of one block?
#
# **(c)** And with sequence parallelism?
#
# **(d)** Write `block_on_rank(s, b, h, a, t, sequence_parallel)`, with stored scores.
#
# **(e)** Tensor parallelism all-reduces the output of attention and of the MLP. Sequence parallelism puts a
# reduce-scatter and an all-gather in the place of each all-reduce. In a ring, a rank then receives
#
# | | |
# |---|---|
# | **a** | half as many bytes |
# | **b** | as many bytes as before |
# | **c** | twice as many bytes |
#
# <details><summary>Hint</summary>
#
# For (e): what is a ring all-reduce made of?
#
# </details>

# %% answer="5.6"
### BEGIN SOLUTION
stays_whole = {"a", "d", "e"}  # letters, e.g. {"a", "b"}
tensor_parallel = f"{2048 * 8 * 12288 * (10 + 24 / 8 + 80 / 8) / 1e9} GB"  # with its unit
with_sequence = f"{2048 * 8 * 12288 * (34 + 80) / 8 / 1e9} GB"  # with its unit
traffic = "b"  # one letter
### END SOLUTION


def block_on_rank(s, b, h, a, t, sequence_parallel):
    """Bytes that one of t tensor-parallel ranks keeps of one block, attention scores stored."""
    ### BEGIN SOLUTION
    whole = 10 / t if sequence_parallel else 10
    return s * b * h * (whole + 24 / t) + 5 * a * s * s * b / t
    ### END SOLUTION


# %% check="5.6" points=6
submit(
    "5.6",
    stays_whole=stays_whole,
    tensor_parallel=tensor_parallel,
    with_sequence=with_sequence,
    block_on_rank=block_on_rank,
    traffic=traffic,
)
### BEGIN HIDDEN TESTS
shape, t, model = budget.GPT3, 8, budget.activations
plain = model.block(shape)
cut = model.block(shape, tensor=t)
both = model.block(shape, tensor=t, sequence_parallel=True)


def on_rank(s, b, h, a, t, sequence_parallel):
    made = budget.Shape(sequence=s, batch=b, hidden=h, heads=a, layers=1)
    return model.block(made, tensor=t, sequence_parallel=sequence_parallel)


def scores_whole(s, b, h, a, t, sequence_parallel):
    made = budget.Shape(sequence=s, batch=b, hidden=h, heads=a, layers=1)
    bare = model.block(
        made, tensor=t, sequence_parallel=sequence_parallel, store_scores=False
    )
    return bare + model.scores(made)


expect.choices(
    "stays_whole",
    right={"a", "d", "e"},
    among="abcde",
    wrong={"b": "tensor-parallel-cuts-nothing", "c": "tensor-parallel-cuts-nothing"},
)
expect.quantity(
    "tensor_parallel",
    budget.gb(cut),
    wrong={
        budget.gb(both): "tensor-parallel-cuts-all",
        budget.gb(plain): "tensor-parallel-cuts-nothing",
        budget.gb(
            scores_whole(shape.sequence, shape.batch, shape.hidden, shape.heads, t, False)
        ): "scores-stay-whole",
        budget.gb(model.block(shape, tensor=t, store_scores=False)): "scores-forgotten",
        budget.mistaken_gib(cut): "gib-for-gb",
    },
    because="10 stay whole, 24 and 80 are divided by 8: 23sbh bytes.",
)
expect.quantity(
    "with_sequence",
    budget.gb(both),
    wrong={
        budget.gb(cut): "sequence-parallel-changes-nothing",
        budget.gb(plain): "tensor-parallel-cuts-nothing",
        budget.gb(both / t): "sequence-parallel-cuts-twice",
        budget.mistaken_gib(both): "gib-for-gb",
    },
)
expect.function(
    "block_on_rank",
    like=on_rank,
    given={
        "s": draw.choice([512, 1024, 2048, 8192]),
        "b": draw.integers(1, 16),
        "h": draw.choice([1024, 4096, 12288]),
        "a": draw.choice([8, 32, 96]),
        "t": draw.choice([2, 4, 8]),
        "sequence_parallel": draw.booleans(),
    },
    draws=16,
    edges=[
        {"s": 128, "b": 1, "h": 64, "a": 4, "t": 1, "sequence_parallel": False},
        {"s": 128, "b": 1, "h": 64, "a": 4, "t": 1, "sequence_parallel": True},
    ],
    examples=[
        {"s": 2048, "b": 1, "h": 4096, "a": 32, "t": 4, "sequence_parallel": False},
        {"s": 2048, "b": 1, "h": 4096, "a": 32, "t": 4, "sequence_parallel": True},
    ],
    wrong={
        "tensor-parallel-cuts-all": lambda s, b, h, a, t, sequence_parallel: on_rank(
            s, b, h, a, t, True
        ),
        "sequence-parallel-changes-nothing": lambda s, b, h, a, t, sequence_parallel: (
            on_rank(s, b, h, a, t, False)
        ),
        "tensor-parallel-cuts-nothing": lambda s, b, h, a, t, sequence_parallel: on_rank(
            s, b, h, a, 1, False
        ),
        "scores-stay-whole": scores_whole,
    },
    weight=2,
)
expect.choice(
    "traffic",
    "b",
    among="abc",
    wrong={
        "a": "sequence-parallel-changes-traffic",
        "c": "sequence-parallel-changes-traffic",
    },
    because="A ring all-reduce is a reduce-scatter and an all-gather.",
)
### END HIDDEN TESTS

# %% [markdown]
# **What this means in practice.** Eight-way tensor parallelism leaves a fifth of the block, not an eighth: 4.63
# of 22.95 GB. Sequence parallelism brings it down to an eighth, 2.87 GB, and sends no more bytes, so where
# tensor parallelism runs, it should run too. Without stored scores the case is stronger still: 13 of 34 stay,
# of which 10 were never cut. But tensor parallelism talks inside every block and cannot be hidden like a
# gather; keep it to ranks with the fastest links.

# %% [markdown]
# ## Exercise 5.7 · The whole budget
#
# Five numbers go into a run, and one card decides. Add up all of it, then choose. *(6 points)*
#
# GPT-3 on $N = 1024$ ranks, fully sharded. On a rank stand
#
# - its shard of the state, 16 bytes a parameter;
# - at the fullest moment of backward three units' worth of bf16 numbers: the block at work, its gradient, and
#   the block fetched ahead. A block has $12h^2$ parameters. Leave the root unit aside;
# - the activations, at the peak of full checkpointing.
#
# **(a)** $b = 8$, and the block that is made again stores its scores: how much in total?
#
# **(b)** Write `rank_total(P, N, s, b, h, a, layers, store_scores)`: the bytes on a rank at its fullest.
#
# **(c)** What is the largest $b$ on a card of 80 GB, with stored scores?
#
# **(d)** Which of these plans fit on a card of 80 GB? All have $s = 2048$; "flash" stores no scores.
#
# | | $N$ | checkpointing | $b$ | scores |
# |---|---|---|---|---|
# | **a** | 1024 | every block | 8 | flash |
# | **b** | 1024 | every block | 12 | stored |
# | **c** | 1024 | every block | 12 | flash |
# | **d** | 1024 | none | 1 | flash |
# | **e** | 8192 | none | 1 | flash |
#
# <details><summary>Hint</summary>
#
# Write (b) first, and use it for everything else. For the plans without checkpointing, exchange the last
# term: all blocks keep everything.
#
# </details>


# %% answer="5.7"
def rank_total(P, N, s, b, h, a, layers, store_scores):
    """Bytes on one of N ranks at the fullest moment of backward, every block checkpointed.

    P: parameters; s: tokens, b: sequences on this rank, h: width, a: heads; blocks of 12 h^2 parameters each.
    """
    ### BEGIN SOLUTION
    state = 16 * P / N
    gathered = 3 * 12 * h * h * 2
    again = 34 * s * b * h + (5 * a * s * s * b if store_scores else 0)
    return state + gathered + layers * 2 * s * b * h + again
    ### END SOLUTION


### BEGIN SOLUTION
plan = f"{rank_total(175e9, 1024, 2048, 8, 12288, 96, 96, True) / 1e9} GB"  # with its unit
most_sequences = 8  # a whole number
plans_that_fit = {"a"}  # letters, e.g. {"a", "b"}
### END SOLUTION

# %% check="5.7" points=6
submit(
    "5.7",
    plan=plan,
    rank_total=rank_total,
    most_sequences=most_sequences,
    plans_that_fit=plans_that_fit,
)
### BEGIN HIDDEN TESTS
P, N, card, shape, model = 175 * 10**9, 1024, 80 * 10**9, budget.GPT3, budget.activations
unit, width = budget.gpt_block(shape.hidden), budget.MIXED.compute


def state_of(P, N):
    return budget.state(budget.Method.ZERO3, P, N, budget.MIXED).total


def gathered_of(h, layers=3):
    return budget.transient([budget.gpt_block(h)] * layers, width).total


def peak_of(s, b, h, a, layers, store_scores):
    made = budget.Shape(sequence=s, batch=b, hidden=h, heads=a, layers=layers)
    return model.peak(made, "full", store_scores=store_scores)


def inputs_of(s, b, h, layers):
    return model.kept(budget.Shape(s, b, h, 1, layers), "full")


def total_of(P, N, s, b, h, a, layers, store_scores):
    peak = peak_of(s, b, h, a, layers, store_scores)
    return budget.Budget(state_of(P, N), gathered_of(h), peak).total


def most(room, store_scores=True):
    return model.largest_batch(shape, int(room), "full", store_scores=store_scores)


def no_recompute(N):
    one = budget.Shape(shape.sequence, 1, shape.hidden, shape.heads, shape.layers)
    return state_of(P, N) + gathered_of(shape.hidden) + model.kept(one, "scores")


state, gathered = state_of(P, N), gathered_of(shape.hidden)
peak = model.peak(shape, "full")
kept = model.kept(shape, "full")
room = card - state - gathered
gpt3 = (shape.hidden, shape.heads, shape.layers)
fits = {
    "a": total_of(P, N, 2048, 8, *gpt3, False) <= card,
    "b": total_of(P, N, 2048, 12, *gpt3, True) <= card,
    "c": total_of(P, N, 2048, 12, *gpt3, False) <= card,
    "d": no_recompute(N) <= card,
    "e": no_recompute(8192) <= card,
}
expect.quantity(
    "plan",
    budget.gb(state + gathered + peak),
    wrong={
        budget.gb(state + unit * width + peak): "transient-is-one-layer",
        budget.gb(state + gathered + kept): "peak-is-what-is-kept",
        budget.gb(state + gathered): "activations-forgotten",
        budget.gb(state + peak): "full-layer-never-exists",
        budget.gb(state * N + gathered + peak): "state-is-replicated",
        budget.gb(state + gathered + model.peak(shape, "full", store_scores=False)): (
            "scores-forgotten"
        ),
        budget.gb((state * N + gathered + peak) / N): "everything-divides-by-n",
    },
    because="A small shard, three gathered units, and activations that are four fifths of it all.",
)
expect.function(
    "rank_total",
    like=total_of,
    given={
        "P": draw.integers(10**9, 10**12),
        "N": draw.choice([2, 3, 64, 1024]),
        "s": draw.choice([1024, 2048, 4096]),
        "b": draw.integers(2, 16),
        "h": draw.choice([2048, 4096, 12288]),
        "a": draw.choice([16, 32, 96]),
        "layers": draw.integers(3, 120),
        "store_scores": draw.booleans(),
    },
    draws=16,
    edges=[
        {
            "P": 10**6,
            "N": 1,
            "s": 64,
            "b": 1,
            "h": 64,
            "a": 4,
            "layers": 3,
            "store_scores": True,
        },
        {
            "P": 10**9,
            "N": 7,
            "s": 64,
            "b": 1,
            "h": 64,
            "a": 4,
            "layers": 5,
            "store_scores": False,
        },
    ],
    examples=[
        {
            "P": 7 * 10**9,
            "N": 8,
            "s": 2048,
            "b": 4,
            "h": 4096,
            "a": 32,
            "layers": 32,
            "store_scores": False,
        },
        {
            "P": 7 * 10**9,
            "N": 64,
            "s": 4096,
            "b": 2,
            "h": 4096,
            "a": 32,
            "layers": 32,
            "store_scores": True,
        },
    ],
    wrong={
        "transient-is-one-layer": lambda P, N, s, b, h, a, layers, store_scores: (
            total_of(P, N, s, b, h, a, layers, store_scores)
            - 2 * budget.gpt_block(h) * width
        ),
        "peak-is-what-is-kept": lambda P, N, s, b, h, a, layers, store_scores: (
            state_of(P, N) + gathered_of(h) + inputs_of(s, b, h, layers)
        ),
        "activations-forgotten": lambda P, N, s, b, h, a, layers, store_scores: (
            state_of(P, N) + gathered_of(h)
        ),
        "state-is-replicated": lambda P, N, s, b, h, a, layers, store_scores: total_of(
            P, 1, s, b, h, a, layers, store_scores
        ),
        "everything-divides-by-n": lambda P, N, s, b, h, a, layers, store_scores: (
            total_of(P, 1, s, b, h, a, layers, store_scores) / N
        ),
        "scores-always-stored": lambda P, N, s, b, h, a, layers, store_scores: total_of(
            P, N, s, b, h, a, layers, True
        ),
    },
    weight=2,
)
expect.quantity(
    "most_sequences",
    most(room),
    rel=0,
    wrong={
        most(card - state - unit * width): "transient-is-one-layer",
        most(card): "activations-are-all-there-is",
        most(room, store_scores=False): "scores-forgotten",
        int(room // inputs_of(shape.sequence, 1, shape.hidden, shape.layers)): (
            "peak-is-what-is-kept"
        ),
    },
)
expect.choices(
    "plans_that_fit",
    right={plan for plan, holds in fits.items() if holds},
    among="abcde",
    wrong={
        "b": "peak-is-what-is-kept",
        "c": "transient-is-one-layer",
        "d": "fsdp-replaces-checkpointing",
        "e": "more-ranks-always-help",
    },
)
### END HIDDEN TESTS

# %% [markdown]
# Your `rank_total` as a picture: GPT-3, one sequence more at a time, with 1024 ranks.

# %%
try:
    batches = range(1, 13)
    curves = {
        kind: [
            rank_total(175e9, 1024, 2048, b, 12288, 96, 96, stored) / 1e9 for b in batches
        ]
        for kind, stored in (("stored scores", True), ("no stored scores", False))
    }
except NotImplementedError:
    print("Write rank_total(...) in 5.7, run its cell, then run this one again.")
else:
    fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
    looks = {"stored scores": (ORANGE, "s"), "no stored scores": (BLUE, "o")}
    for kind, heights in curves.items():
        colour, marker = looks[kind]
        ax.plot(batches, heights, color=colour, marker=marker, linewidth=2, label=kind)
    ax.axhline(80, color="black", linestyle="--", linewidth=1)
    ax.text(1, 80.8, "an 80 GB card", ha="left", va="bottom")
    ax.set(
        xticks=batches,
        xlabel="sequences b on a rank",
        ylabel="GB on a rank",
        ylim=(0, None),
    )
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False, loc="lower right")
    plt.show()

# %% [markdown]
# *Picture: two rising straight lines over 1 to 12 sequences, both starting near 20 GB. The one with stored scores
# crosses the dashed line of the 80 GB card after 8 sequences, the other after 11.*
#
# **What this means in practice.** Look at what the number of ranks can still do here. The shard is 2.73 GB of
# 75.21; with a million ranks the total would be 72.48. Plans d and e differ in $N$ alone, by a factor of
# eight, and neither fits. That is the whole course in one line: sharding divides the state, and then the rest
# decides. And leave room beyond the sum, for the CUDA context, the allocator's gaps and communication
# buffers: the plan of (a), at 75 of 80 GB, is a tight one.

# %% [markdown]
# ## Exercise 5.8 · Tell a colleague
#
# This one is read and graded by a person. *(3 points)*
#
# A colleague trains a large model with full sharding on 256 GPUs and is out of memory by a little. They write:
# *"We need to go to 512 GPUs. Memory halves."*
#
# In five to eight sentences, answer them. Say what halves and what does not, which measurement or sum would
# tell you what fills the card, which change you would try first if it is activations, and what that change
# costs. Write into the next cell.

# %% [markdown] essay="5.8" points=3
# What halves is the shard of parameters, gradients and optimizer state. At 256 ranks that is already a small
# part: at 16 bytes a parameter even 175 billion parameters leave 11 GB on a rank, so 512 ranks would free
# about 5 GB and no more. Gathered units, their gradients and the activations of each rank's own sequences
# stay as large as they are, unless the global batch is kept and each rank gets fewer sequences. A memory
# snapshot at the peak, or the sum of shard, three units and activations, says which part fills the card. If
# it is activations, I would first make sure that attention stores no scores, then checkpoint the blocks; that
# costs one more forward, about a third of the step. One sequence less on a rank costs no recomputation, but
# the gathers are spread over fewer tokens.
#
# === BEGIN MARK SCHEME ===
#
# Half a point each, to a sum of 3:
#
# - the shard of the state halves;
# - activations do not, at a fixed batch per GPU;
# - the condition is named: with a fixed global batch they do shrink, without FSDP just as well;
# - a measurement or sum that decides it: memory snapshot, peak by part, the budget of 5.7;
# - a change that acts on activations: checkpointing, no stored scores, fewer or shorter sequences;
# - its cost: a third of the step for full checkpointing, fewer tokens for each gather, and so on.
#
# === END MARK SCHEME ===
