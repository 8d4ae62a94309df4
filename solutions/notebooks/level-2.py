# ---
# title: "Level 2 · Application"
# level: 2
# ---
# %% [markdown]
# # Level 2 · Application
#
# **Will it fit? Put numbers on it before you queue for the machines.**
#
# After this level you can
#
# - work out the training state of one GPU for plain data parallelism, each ZeRO stage and FSDP;
# - say what a rank holds at the fullest moment of backward, and which layer decides it;
# - write the whole budget as one function, and turn it round: how many GPUs does this model need?
#
# **How answers work.** Replace each `...` and each `raise NotImplementedError()`, run the cell, then run the
# `submit` cell below it. Quantities are texts with a unit, like `"1.5 GB"`, and count as right within 1%; GB
# is $10^9$ bytes, GiB is $2^{30}$ bytes. Functions take and return plain bytes.
#
# **Precision.** Every exercise names its regime. These three come up:
#
# | regime | kept for each parameter: parameter + gradient + optimizer state | gathered for compute |
# |---|---|---|
# | fp32 Adam | 4 + 4 + 8 B | 4 B |
# | mixed precision, ZeRO layout | 2 + 2 + 12 B (fp32 master, two moments) | 2 B |
# | mixed precision, FSDP2 policy | 4 + 4 + 8 B | 2 B: each rank casts its shard, then gathers |

# %% locked="setup"
import math

import matplotlib.pyplot as plt

from autograder import submit

# Colours that stay apart for every kind of colour vision (Okabe and Ito).
BLUE, ORANGE = "#56B4E9", "#E69F00"

# %% [markdown]
# ## Exercise 2.1 · The training state
#
# Before anything else is counted, the state must fit: it is there at every moment of training. A model of 7
# billion parameters is small by today's measure, and already the choice of method decides whether it trains
# on 80 GB cards. *(6 points)*
#
# Let $P = 7 \times 10^9$ and $N = 8$.
#
# **(a)** fp32 Adam, plain data parallelism: how much training state does one GPU hold?
#
# **(b)** fp32 Adam, FSDP's full sharding: how much now?
#
# **(c)** Mixed precision in ZeRO's layout, ZeRO stage 1: how much now? Mind which rows of the table are
# sharded.
#
# **(d)** Write `full_sharding(P, N)`: bytes of training state on one of $N$ ranks with full
# sharding and fp32 Adam.
#
# **(e)** Write `zero_state(stage, P, N, param, grad, optimizer)` for every stage from 0 to 3 and every
# regime; `param`, `grad` and `optimizer` are bytes a parameter.
#
# For a check of (e): the ZeRO paper (arXiv 1910.02054) gives, for $P = 7.5 \times 10^9$, $N = 64$ and its
# mixed layout,
#
# | stage 0 | stage 1 | stage 2 | stage 3 |
# |---|---|---|---|
# | 120 GB | 31.4 GB | 16.6 GB | 1.9 GB |
#
# <details><summary>Hint</summary>
#
# Write the bytes a parameter as a sum of three terms and divide by $N$ only the terms that the stage shards:
# stage 1 the third, stage 2 the second as well, stage 3 all three.
#
# </details>

# %% answer="2.1"
### BEGIN SOLUTION
dp_memory = f"{16 * 7} GB"  # a text with its unit
fsdp_memory = f"{16 * 7 / 8} GB"  # a text with its unit
zero1_memory = f"{(2 + 2) * 7 + 12 * 7 / 8} GB"  # a text with its unit
### END SOLUTION


def full_sharding(P, N):
    """Bytes of training state on one of N ranks, 16 bytes a parameter, everything sharded."""
    ### BEGIN SOLUTION
    return 16 * P / N
    ### END SOLUTION


def zero_state(stage, P, N, param, grad, optimizer):
    """Bytes of training state on one of N ranks in ZeRO stage 0, 1, 2 or 3.

    param, grad, optimizer: bytes that one parameter, its gradient and its optimizer state take.
    """
    ### BEGIN SOLUTION
    if stage >= 1:
        optimizer = optimizer / N
    if stage >= 2:
        grad = grad / N
    if stage >= 3:
        param = param / N
    return (param + grad + optimizer) * P
    ### END SOLUTION


# %% check="2.1" points=6
submit(
    "2.1",
    dp=dp_memory,
    fsdp=fsdp_memory,
    zero1=zero1_memory,
    full_sharding=full_sharding,
    zero_state=zero_state,
)
### BEGIN HIDDEN TESTS
P, N = 7 * 10**9, 8


def on_one(stage, regime=budget.FP32, ranks=N):
    return budget.state(budget.stage(stage), P, ranks, regime).total


def zero(stage, P, N, param, grad, optimizer):
    regime = budget.Regime("drawn", param, grad, optimizer, param)
    return budget.state(budget.stage(stage), P, N, regime).total


expect.quantity(
    "dp",
    budget.gb(on_one(0)),
    wrong={
        budget.gb(4 * P): "parameters-are-the-state",
        budget.gb(8 * P): "optimizer-state-forgotten",
        budget.gb((4 + 4 + 16) * P): "adam-state-is-16-bytes",
        budget.gb(budget.Fraction(16 * P, N)): "everything-divides-by-n",
        budget.mistaken_gib(on_one(0)): "gib-for-gb",
    },
    because="Every GPU holds all 16 bytes of every parameter, however many GPUs there are.",
)
expect.quantity(
    "fsdp",
    budget.gb(on_one(3)),
    wrong={
        budget.gb(on_one(0)): "state-is-replicated",
        budget.gb(on_one(1)): "zero-stage-mixed-up",
        budget.gb(on_one(2)): "zero-stage-mixed-up",
        budget.gb(budget.Fraction(8 * P, N)): "optimizer-state-forgotten",
        budget.gb(budget.Fraction(24 * P, N)): "adam-state-is-16-bytes",
        budget.gb(budget.Fraction(4 * P, N)): "parameters-are-the-state",
        budget.mistaken_gib(on_one(3)): "gib-for-gb",
    },
    because="All four stacks are cut into N pieces, so each GPU holds 16P/N.",
)
expect.quantity(
    "zero1",
    budget.gb(on_one(1, budget.MIXED)),
    wrong={
        budget.gb(on_one(1, budget.FP32)): "one-split-for-all-regimes",
        budget.gb(on_one(2, budget.MIXED)): "zero-stage-mixed-up",
        budget.gb(on_one(3, budget.MIXED)): "zero-stage-mixed-up",
        budget.gb(on_one(0, budget.MIXED)): "state-is-replicated",
        budget.gb(on_one(1, budget.FP32) / 2): "mixed-precision-halves-state",
        budget.mistaken_gib(on_one(1, budget.MIXED)): "gib-for-gb",
    },
    because="Parameters and gradients, 2 + 2 bytes, stay whole; the 12 bytes of optimizer state are sharded.",
)
expect.function(
    "full_sharding",
    like=lambda P, N: budget.Fraction(16 * P, N),
    given={"P": draw.integers(10**3, 10**12), "N": draw.choice([2, 3, 4, 8, 64, 1024])},
    edges=[{"P": 1_000_003, "N": 1}],
    examples=[{"P": 10**9, "N": 4}, {"P": 10**6, "N": 1}],
    wrong={
        "state-is-replicated": lambda P, N: 16 * P,
        "optimizer-state-forgotten": lambda P, N: budget.Fraction(8 * P, N),
        "adam-state-is-16-bytes": lambda P, N: budget.Fraction(24 * P, N),
        "parameters-are-the-state": lambda P, N: budget.Fraction(4 * P, N),
        "zero-stage-mixed-up": lambda P, N: 8 * P + budget.Fraction(8 * P, N),
    },
)
expect.function(
    "zero_state",
    like=zero,
    given={
        "stage": draw.integers(0, 3),
        "P": draw.integers(10**3, 10**12),
        "N": draw.choice([2, 3, 4, 8, 64, 1024]),
        "param": draw.choice([2, 4]),
        "grad": draw.choice([2, 4]),
        "optimizer": draw.choice([4, 8, 12, 14]),
    },
    edges=[
        {"stage": 3, "P": 1000, "N": 1, "param": 2, "grad": 2, "optimizer": 12},
        {"stage": 0, "P": 1000, "N": 8, "param": 4, "grad": 4, "optimizer": 8},
    ],
    draws=24,
    examples=[
        {"stage": 1, "P": 7_500_000_000, "N": 64, "param": 2, "grad": 2, "optimizer": 12},
        {"stage": 2, "P": 7_500_000_000, "N": 64, "param": 2, "grad": 2, "optimizer": 12},
        {"stage": 3, "P": 10**6, "N": 4, "param": 4, "grad": 4, "optimizer": 8},
    ],
    wrong={
        "everything-divides-by-n": lambda stage, P, N, param, grad, optimizer: zero(
            3, P, N, param, grad, optimizer
        ),
        "one-split-for-all-regimes": lambda stage, P, N, param, grad, optimizer: zero(
            stage, P, N, 4, 4, 8
        ),
        "zero-stage-mixed-up": lambda stage, P, N, param, grad, optimizer: zero(
            stage, P, N, optimizer, grad, param
        ),
    },
    weight=2,
)
### END HIDDEN TESTS

# %% [markdown]
# **What this means in practice.** Try ZeRO stage 1 or 2 before full sharding: with one micro-batch a step
# they send no more than plain data parallelism does. How far they carry depends on the split, so know yours.
# For the model of the ZeRO paper, stage 1 leaves 31.4 GB on a rank in the mixed layout and 60.9 GB with fp32
# Adam, from the same 120 GB. And mixed precision by itself does not shrink the state: its master copy takes
# back what the 2-byte copies saved.
#
# With $N = 1$ there is nothing to shard. FSDP2 then issues no collective at all, and FSDP1 switches to no
# sharding with a warning.

# %% [markdown]
# ## Exercise 2.2 · What a rank holds for a moment
#
# The shard is what lives from step to step. The run may still die in the middle of one, when a layer stands
# gathered on the card. How much room must be left for that moment? *(5 points)*
#
# FSDP cuts the model into **units**, usually one for each transformer block. In forward, a unit is gathered,
# used and freed, while the next one is already being fetched, so that the link works while the GPU computes.

# %%
fig, ax = plt.subplots(figsize=(7.5, 3), layout="constrained")
for unit in range(6):
    ax.barh(-unit, 1, left=unit, height=0.7, color=BLUE, edgecolor="black", linewidth=0.8)
    ax.text(unit + 0.5, -unit, "computes", ha="center", va="center", fontsize=9)
    if unit:
        ax.barh(
            -unit, 1, left=unit - 1, height=0.7, color="white", edgecolor=BLUE, hatch="///"
        )
        ax.text(
            unit - 0.5,
            -unit,
            "fetched",
            ha="center",
            va="center",
            fontsize=9,
            backgroundcolor="white",
        )
ax.set(xlabel="time in forward →", xticks=[], yticks=[-unit for unit in range(6)])
ax.set_yticklabels([f"unit {unit}" for unit in range(6)])
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %% [markdown]
# *Picture: a staircase of six units over time. Each unit has a full box, "computes", and all but the first a
# hatched box before it, "fetched". While one unit computes, the next one is fetched.*
#
# **Backward** walks from the last unit to the first. While a unit is at work there, a rank holds
#
# - its gathered parameters;
# - its gradient, whole, until it is reduce-scattered;
# - the gathered parameters of the unit that comes next *in backward*.
#
# The regime is mixed precision with FSDP2's policy: the shards are fp32, compute, gathered parameters and
# unsharded gradients are bf16, 2 bytes each. The model is that of 2.1, $P = 7 \times 10^9$ on $N = 8$ GPUs
# with full sharding. Its units are equal, $2.1 \times 10^8$ parameters each. Leave aside activations and what
# belongs to no block.
#
# **(a)** How much do the gathered parameters of one unit take on a rank?
#
# **(b)** How much does a rank hold *beyond its shard of the state* at the fullest moment of backward?
#
# **(c)** How much is that with its shard of the state?
#
# **(d)** Real units are not equal. Write `backward_peak(units, width)` for a list of unit sizes (parameters,
# in forward order) and `width` bytes a number: the bytes beyond the shard at the fullest moment of backward.
# At the last unit in backward there is nothing left to fetch.
#
# <details><summary>Hint for (a) to (c)</summary>
#
# A matmul reads parameters and nothing else, so a gather moves parameters and nothing else, in the width that
# the matmul reads. Then count the copies of one unit that the list above names.
#
# </details>
#
# <details><summary>Hint for (d)</summary>
#
# There is one moment for each unit. Work out each of them and take the largest: it need not be at the largest
# unit.
#
# </details>

# %% answer="2.2"
### BEGIN SOLUTION
gathered = f"{2 * 0.21} GB"  # a text with its unit
beyond_the_shard = f"{3 * 2 * 0.21} GB"  # a text with its unit
at_peak = f"{(4 + 4 + 8) * 7 / 8 + 3 * 2 * 0.21} GB"  # a text with its unit
### END SOLUTION


def backward_peak(units, width):
    """Bytes a rank holds beyond its shard at the fullest moment of backward.

    units: parameters of each unit, in forward order; width: bytes of a gathered parameter and of a gradient.
    """
    ### BEGIN SOLUTION
    peak = 0
    for i in range(len(units)):
        prefetched = units[i - 1] if i > 0 else 0
        peak = max(peak, (2 * units[i] + prefetched) * width)
    return peak
    ### END SOLUTION


# %% check="2.2" points=5
submit(
    "2.2",
    gathered=gathered,
    beyond_the_shard=beyond_the_shard,
    at_peak=at_peak,
    backward_peak=backward_peak,
)
### BEGIN HIDDEN TESTS
P, N, unit, regime = 7 * 10**9, 8, 210_000_000, budget.FSDP2_MIXED
shard = budget.state(budget.Method.ZERO3, P, N, regime).total
replica = budget.state(budget.Method.DP, P, N, regime).total
one = unit * regime.compute
three = budget.transient([unit] * 3, regime.compute).total

expect.quantity(
    "gathered",
    budget.gb(one),
    wrong={
        budget.gb(unit * regime.param): "gather-uses-the-stored-width",
        budget.gb(unit * regime.total): "gather-moves-the-whole-state",
        budget.gb(budget.Fraction(one, N)): "fsdp-splits-the-matmul",
        budget.gb(P * regime.compute): "gather-rebuilds-whole-model",
        budget.mistaken_gib(one): "gib-for-gb",
    },
    because="Only parameters are gathered, in the 2 bytes that the matmul reads.",
)
expect.quantity(
    "beyond_the_shard",
    budget.gb(three),
    wrong={
        budget.gb(one): "transient-is-one-layer",
        budget.gb(3 * unit * regime.param): "gather-uses-the-stored-width",
        budget.gb(3 * unit * regime.total): "gather-moves-the-whole-state",
        budget.gb(budget.Fraction(three, N)): "full-layer-never-exists",
        budget.gb(P * regime.compute): "gather-rebuilds-whole-model",
    },
    because="Three blocks: parameters and gradient of the unit at work, parameters of the one fetched ahead.",
)
expect.quantity(
    "at_peak",
    budget.gb(shard + three),
    wrong={
        budget.gb(shard + one): "transient-is-one-layer",
        budget.gb(replica + three): "state-is-replicated",
        budget.gb((replica + three) / N): "transient-is-sharded-too",
        budget.gb(shard + P * regime.compute): "gather-rebuilds-whole-model",
        budget.gb(shard / 4 + three): "parameters-are-the-state",
    },
)
expect.function(
    "backward_peak",
    like=lambda units, width: budget.transient(units, width).total,
    given={
        "units": draw.lists(draw.integers(1, 10**6), min=3, max=9),
        "width": draw.choice([2, 4]),
    },
    edges=[
        {"units": [5], "width": 2},
        {"units": [7, 7, 7], "width": 4},
        {"units": [9, 1], "width": 2},
    ],
    examples=[
        {"units": [10, 10, 10], "width": 2},
        {"units": [1, 2, 50, 40, 3], "width": 4},
    ],
    wrong={
        "transient-is-one-layer": lambda units, width: max(units) * width,
        "largest-unit-is-average": lambda units, width: budget.Fraction(
            3 * sum(units) * width, len(units)
        ),
        "three-of-the-largest": lambda units, width: 3 * max(units) * width,
        "backward-prefetch-runs-forward": lambda units, width: (
            budget.transient(units[::-1], width).total
        ),
        "gather-rebuilds-whole-model": lambda units, width: sum(units) * width,
    },
    weight=2,
)
### END HIDDEN TESTS

# %% [markdown]
# **What this means in practice.** The largest unit decides. "The buffer is 1-2% of the model" holds for some
# 50 to 100 equal layers; other models are far from it. Shares of all parameters:
#
# | unit | share of the model |
# |---|---|
# | one block of a 7B Llama (32 blocks) | 3.0% |
# | the embedding of Llama-3-8B | 6.5% |
# | its usual root unit: embedding, last norm, output head | 13.1% |
#
# So a buffer of 1.5 GB, which is often quoted for a 7B model, would be 10.7% of its bf16 parameters: too much
# for a block, and too little for a root unit of 13.1%. The root unit's parameters stay gathered from forward
# to backward and come on top of what you counted. PyTorch's own memory test for FSDP2 allows the three blocks
# of the list above and the root's parameters beyond the shard. With `reduce_dtype=torch.float32` the gradient
# is also cast to 4 bytes for the reduce-scatter.

# %% [markdown]
# Your `backward_peak` as a picture: 7 billion parameters in bf16, cut into more and more equal units.

# %%
try:
    cuts = [1, 2, 4, 8, 16, 32, 64]
    peaks = [backward_peak([7e9 / cut] * cut, 2) / 1e9 for cut in cuts]
except NotImplementedError:
    print(
        "Write backward_peak(units, width) in 2.2, run its cell, then run this one again."
    )
else:
    fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
    bars = ax.bar(range(len(cuts)), peaks, 0.7, color=BLUE, edgecolor="black")
    ax.bar_label(bars, fmt="%.2f", padding=2)
    ax.margins(y=0.1)
    ax.set(
        xticks=range(len(cuts)),
        xticklabels=cuts,
        xlabel="number of equal units",
        ylabel="GB beyond the shard",
    )
    ax.spines[["top", "right"]].set_visible(False)
    plt.show()

# %% [markdown]
# *Picture: a bar for each number of units from 1 to 64. The bars fall; from the second one on, each is half as
# high as the one before.*
#
# Finer units need less room, but more and smaller gathers, each of which pays the latency of the link. One
# unit for each block is the usual middle.

# %% [markdown]
# ## Exercise 2.3 · One formula, both ways
#
# A budget is asked for in two ways: *does it fit on these GPUs*, and *how many GPUs must I ask for?* *(5
# points)*
#
# At 16 bytes a parameter, full sharding, and $T$ bytes of working memory on each rank (gathered units,
# activations: all that is not sharded), one rank needs $M(P, N, T)$ bytes. All parts: fp32 Adam.
#
# **(a)** Write `memory(P, N, T)`.
#
# **(b)** Evaluate it for $P = 175 \times 10^9$ (GPT-3's size), $N = 64$, $T = 0$.
#
# **(c)** The same model with $T = 10$ GB on cards of 80 GB: what is the least number of GPUs? A need of
# exactly 80 GB counts as fitting.
#
# **(d)** Write `smallest_world(P, T, card)`: the least $N$ with which it fits on cards of `card` bytes, and 0
# if no number of GPUs is enough.
#
# <details><summary>Hint</summary>
#
# For (d) solve $M(P, N, T) \le \text{card}$ for $N$ and round the right way. When is there no solution, and
# can $N$ come out as 0 when there is one?
#
# </details>


# %% answer="2.3"
def memory(P, N, T):
    """Bytes on one of N ranks: its shard, 16 bytes a parameter, and T unsharded bytes."""
    ### BEGIN SOLUTION
    return 16 * P / N + T
    ### END SOLUTION


def smallest_world(P, T, card):
    """The least number of ranks on which P parameters fit; 0 if no number is enough.

    card: bytes of memory of one GPU; T: bytes on each that are not sharded.
    """
    ### BEGIN SOLUTION
    if card <= T:
        return 0
    return max(1, math.ceil(16 * P / (card - T)))
    ### END SOLUTION


### BEGIN SOLUTION
gpt3_on_64 = f"{memory(175e9, 64, 0) / 1e9} GB"  # a text with its unit
gpt3_least = smallest_world(175e9, 10e9, 80e9)  # a whole number
### END SOLUTION

# %% check="2.3" points=5
submit(
    "2.3",
    memory=memory,
    gpt3_on_64=gpt3_on_64,
    gpt3_least=gpt3_least,
    smallest_world=smallest_world,
)
### BEGIN HIDDEN TESTS
P, N, T, card = 175 * 10**9, 64, 10 * 10**9, 80 * 10**9
whole = budget.state(budget.Method.DP, P, N, budget.FP32).total
shard = budget.state(budget.Method.ZERO3, P, N, budget.FP32).total


def least(P, T, card, bytes_each=16):
    return budget.smallest_world(bytes_each * P, T, card)


expect.function(
    "memory",
    like=lambda P, N, T: budget.Fraction(16 * P, N) + T,
    given={
        "P": draw.integers(10**6, 10**12),
        "N": draw.choice([2, 3, 8, 64, 1024]),
        "T": draw.integers(10**6, 10**11),
    },
    edges=[{"P": 1000, "N": 1, "T": 24}, {"P": 10**9, "N": 4, "T": 0}],
    examples=[{"P": 10**9, "N": 4, "T": 10**9}, {"P": 10**9, "N": 1, "T": 5 * 10**8}],
    wrong={
        "transient-is-sharded-too": lambda P, N, T: budget.Fraction(16 * P + T, N),
        "state-is-replicated": lambda P, N, T: 16 * P + T,
        "optimizer-state-forgotten": lambda P, N, T: budget.Fraction(8 * P, N) + T,
        "parameters-are-the-state": lambda P, N, T: budget.Fraction(4 * P, N) + T,
        "activations-forgotten": lambda P, N, T: budget.Fraction(16 * P, N),
    },
)
expect.quantity(
    "gpt3_on_64",
    budget.gb(shard),
    wrong={
        budget.gb(whole): "state-is-replicated",
        budget.gb(shard / 2): "optimizer-state-forgotten",
        budget.gb(shard / 4): "parameters-are-the-state",
        budget.gb(shard * 24 / 16): "adam-state-is-16-bytes",
        budget.mistaken_gib(shard): "gib-for-gb",
    },
)
expect.quantity(
    "gpt3_least",
    least(P, T, card),
    rel=0,
    wrong={
        least(P, 0, card): "activations-forgotten",
        budget.smallest_world(16 * P + T, 0, card): "transient-is-sharded-too",
        least(P, T, card, 8): "optimizer-state-forgotten",
        least(P, T, card, 4): "parameters-are-the-state",
    },
    because="Each card has room for a shard of card − T bytes, and N is rounded up.",
)
billions = 10**9
expect.function(
    "smallest_world",
    like=least,
    given={
        "P": draw.integers(20 * billions, 500 * billions, multiple_of=billions),
        "T": draw.integers(4 * billions, 30 * billions, multiple_of=billions),
        "card": draw.choice([40 * billions, 80 * billions, 141 * billions]),
    },
    edges=[
        {"P": billions, "T": 80 * billions, "card": 80 * billions},
        {"P": billions, "T": 90 * billions, "card": 80 * billions},
        {"P": 7 * billions, "T": 24 * billions, "card": 80 * billions},
        {"P": 1000, "T": 0, "card": 80 * billions},
    ],
    examples=[
        {"P": 30 * billions, "T": 20 * billions, "card": 80 * billions},
        {"P": 10 * billions, "T": 0, "card": 40 * billions},
    ],
    wrong={
        "activations-forgotten": lambda P, T, card: least(P, 0, card),
        "transient-is-sharded-too": lambda P, T, card: budget.smallest_world(
            16 * P + T, 0, card
        ),
        "optimizer-state-forgotten": lambda P, T, card: least(P, T, card, 8),
        "rounded-down": lambda P, T, card: (16 * P) // (card - T) if card > T else 0,
    },
    weight=2,
)
### END HIDDEN TESTS

# %% [markdown]
# Your `memory` as a picture: 1.5 billion parameters, and 8 GB of working memory that no rank shares with
# another.

# %%
try:
    world = [1, 2, 4, 8, 16, 32, 64]
    T = 8e9
    shards = [(memory(1.5e9, N, T) - T) / 1e9 for N in world]
except NotImplementedError:
    print("Write memory(P, N, T) in 2.3, run its cell, then run this one again.")
else:
    fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
    places = range(len(world))
    ax.bar(
        places,
        [T / 1e9] * len(world),
        0.7,
        color=ORANGE,
        edgecolor="black",
        label="working memory T",
    )
    ax.bar(
        places,
        shards,
        0.7,
        [T / 1e9] * len(world),
        color=BLUE,
        edgecolor="black",
        label="shard of the state",
    )
    ax.axhline(24, color="black", linestyle="--", linewidth=1)
    ax.text(2.5, 24.4, "a 24 GB card", ha="center", va="bottom")
    ax.set(xticks=places, xticklabels=world, xlabel="ranks N", ylabel="GB on one rank")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    plt.show()

# %% [markdown]
# *Picture: a bar for each N from 1 to 64. The upper part, the shard of the state, halves from bar to bar
# until it cannot be seen. The lower part, the working memory, has the same height in every bar: a floor.*
#
# **What this means in practice.** More ranks help as long as the shard is the larger part. Past that point
# the floor is what you pay for, and the next GB comes from smaller batches, checkpointed activations or
# smaller units. Leave room, too: the CUDA context, the allocator's gaps and communication buffers are in no
# formula on this page.

# %% [markdown]
# ## Exercise 2.4 · Tell a colleague
#
# This one is read and graded by a person. *(2 points)*
#
# A colleague plans to train a model of 3 billion parameters with fp32 Adam and full sharding on 4 GPUs with
# 16 GB each, and writes: *"16 × 3 ÷ 4 = 12 GB, so 4 GB stay free and it fits."*
#
# In four to six sentences, tell them what the sum leaves out, what you would ask before you say yes or no,
# and one change that would help if it does not fit. Write into the next cell.

# %% [markdown] essay="2.4" points=2
# The 12 GB are right for what they count: parameters, gradients and Adam's moments, 16 bytes a parameter,
# divided over four ranks. Activations are not in the sum, and sharding does not divide them. In backward a
# rank also holds the largest unit's gathered parameters, its unsharded gradient and the parameters of the
# unit fetched ahead, in fp32 here, besides the root unit. I would ask for batch and sequence length, and for
# the size of the largest unit, embedding included. If it does not fit: checkpoint activations or lower the
# batch per GPU, and only more ranks if the shard is what is full.
#
# === BEGIN MARK SCHEME ===
#
# Half a point each, to a sum of 2:
#
# - activations are missing from the sum, and sharding does not divide them;
# - the transient memory is missing: at least gathered parameters **and** one of unsharded gradient,
#   prefetched unit, root;
# - asks for something that decides it: batch per GPU, sequence length, size of the largest unit, measured
#   peak;
# - the change named acts on the part that is full (checkpointing or a smaller batch for activations, finer
#   units for the transient part, more ranks or 8-bit moments for the shard). "More GPUs" alone, without
#   saying for what, earns nothing.
#
# === END MARK SCHEME ===
