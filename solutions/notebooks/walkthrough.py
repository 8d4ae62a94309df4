# ---
# title: "Walkthrough · FSDP in pictures"
# level: 1
# ---
# %% [markdown]
# # FSDP in pictures
#
# **How does a model that is too large for one GPU train on eight?**
#
# Seven steps, from one number to a whole training run. Every picture is drawn from *your* model: set its
# numbers below, run the cells from the top, and move the sliders. Each picture says in words what it shows.
#
# Along the way three short exercises ask for a number or a formula, and at the end a self-check asks eight
# questions. **How answers work:** replace each `...` and each `raise NotImplementedError()`, run the cell, then
# the `submit` cell below it. Quantities are texts with a unit, like `"1.5 GB"`, and count as right within 1%.
# GB is $10^9$ bytes. Formulas that you have written draw the pictures from then on.
#
# | symbol | meaning |
# |---|---|
# | $P$ | parameters of the model |
# | $N$ | ranks: one process for each GPU, all working on the same step with data of their own |
# | $\theta^{(i)}$ | the piece of an array that rank $i$ owns, counted from 0 |

# %% locked="setup"
from autograder import answer, submit
from autograder.learner.walkthrough import Model, degenerate, explore, moment, state

# %% [markdown]
# ## Your model
#
# Change these to a model and a machine that you care about, or leave them: a model of 7 billion parameters on
# eight 80 GB cards.

# %%
mine = Model(
    P=7_000_000_000,  # parameters
    N=8,  # ranks
    dtype="bf16",  # what a matmul reads: "fp32", "bf16" or "fp16"
    largest=210_000_000,  # parameters of the largest unit, usually one block or the embedding
    batch=4,  # sequences that one rank works on at once
    sequence=2048,  # tokens of each
    hidden=4096,  # width of the hidden state
    layers=32,  # blocks
    memory=80,  # GB of one GPU
)

# %% [markdown]
# ## Step 1 · A parameter costs bytes
#
# A network is a pile of numbers that training tunes: its **parameters**. A GPU has a fixed amount of memory,
# and every number takes its bytes of it. Everything below is one question: how many bytes must be on one GPU
# at once?
#
# Each box is one parameter. Under it stands what it weighs when a matmul reads it.

# %%
explore(state.strip, mine, "P", "dtype")

# %% [markdown]
# *Picture: a strip of boxes, one for each parameter, each marked with its bytes; above it an arrow over the
# whole strip says what it takes in all.*

# %% [markdown]
# ## Step 2 · A parameter does not come alone
#
# Training stores more for each parameter $\theta$ than the parameter: its **gradient** $g$, which says how the
# loss would change with it, and with Adam two running averages, the **momentum** $m$ of past gradients and the
# **variance** $v$ of their squares. In fp32 that is four numbers of 4 bytes.
#
# Mixed precision keeps 2-byte parameters and gradients for the matmuls, and an fp32 **master** of each
# parameter, in which small updates do not get lost. The sum is the same, and the split is another.
#
# Two of the four numbers are the optimizer's. The gradient is not: every way of training has one.

# %%
explore(state.column, mine, "dtype")

# %% [markdown]
# *Picture: two columns of equal height, 16 bytes a parameter. fp32 Adam has four boxes of 4 bytes, mixed
# precision five: 2, 2, 4, 4, 4. Beside them, dotted, the few bytes of the model alone.*

# %% [markdown]
# ### Exercise W.2 · Count the column
#
# Who budgets for the model alone is off by a factor of four, or of eight. *(3 points)*
#
# **(a)** How much training state does a model of $2 \times 10^9$ parameters need on one GPU, with fp32 Adam?
#
# **(b)** Which of these are Adam's, so that training with plain SGD would not have them?
#
# | | |
# |---|---|
# | **a** | the parameter |
# | **b** | the gradient |
# | **c** | the momentum |
# | **d** | the variance |
#
# <details><summary>Hint</summary>
#
# Count the boxes of the left column, then multiply.
#
# </details>

# %% answer="w.2"
### BEGIN SOLUTION
training_state = f"{16 * 2} GB"  # a text with its unit
adams_own = {"c", "d"}  # letters, e.g. {"a", "d"}
### END SOLUTION

# %% check="w.2" points=3
submit("w.2", training_state=training_state, adams_own=adams_own)
### BEGIN HIDDEN TESTS
P = 2 * 10**9
whole = budget.state(budget.Method.DP, P, 1, budget.FP32).total
expect.quantity(
    "training_state",
    budget.gb(whole),
    wrong={
        budget.gb(4 * P): "parameters-are-the-state",
        budget.gb(8 * P): "optimizer-state-forgotten",
        budget.gb((4 + 4 + 16) * P): "adam-state-is-16-bytes",
        budget.gb(12 * P): "gradient-forgotten",
        budget.mistaken_gib(whole): "gib-for-gb",
    },
    because="Four numbers of 4 bytes for each parameter.",
)
expect.choices(
    "adams_own",
    right={"c", "d"},
    among="abcd",
    wrong={"a": "optimizer-quadruples", "b": "optimizer-quadruples"},
    because="The gradient belongs to training itself.",
)
### END HIDDEN TESTS

# %% [markdown]
# ## Step 3 · The baseline: a photocopy on every GPU
#
# **Plain data parallelism** gives every rank its own data and a whole copy of everything above: $16P$ bytes on
# each of $N$ GPUs. $N$ does not occur in that number. Ten GPUs, ten photocopies, and not one byte of relief.

# %%
explore(state.replicas, mine, "P", "N", "dtype")

# %% [markdown]
# *Picture: a full column on every GPU, all of them the same, against the dashed line of the card. More GPUs
# add more columns and make none of them shorter.*

# %% [markdown]
# ## Step 4 · Cut the strip
#
# **Sharding** cuts each strip into $N$ pieces and deals them out:
#
# $$\theta = \big[\,\theta^{(0)} \mid \theta^{(1)} \mid \cdots \mid \theta^{(N-1)}\,\big],$$
#
# where the bars mean "end to end". Rank $i$ owns piece $i$, about $P/N$ parameters, and stores nothing of the
# others between uses. FSDP's full sharding cuts all four strips in this way, as ZeRO stage 3 does: parameters,
# gradients, momentum, variance. (FSDP has other modes, too, which cut less.)
#
# Try an $N$ that does not divide $P$. FSDP1 pads the last piece. FSDP2 cuts every single parameter along its
# first dimension, so late ranks may hold less, or nothing.

# %%
explore(state.shards, mine, "P", "N")

# %% [markdown]
# *Picture: the strip in coloured segments, and an arrow from each down to the GPU that owns it. No GPU holds
# the whole strip. A hatched piece is not full.*

# %% [markdown]
# ## Step 5 · What stays on a rank
#
# All four strips cut into $N$ pieces: a rank keeps $16P/N$ bytes from step to step. With twice as many ranks
# it is half. And the cluster as a whole holds one copy where it held $N$.

# %%
explore(state.columns, mine, "P", "N", "dtype")

# %% [markdown]
# *Picture: the columns of step 3 as grey outlines, and in each a short column with the same colours: $1/N$ of
# the height.*

# %% [markdown]
# ### Exercise W.5 · Your own curve
#
# The picture below this exercise is drawn from your function as soon as it is written. *(4 points)*
#
# **(a)** $N$ in $16P/N$ is the number of
#
# | | |
# |---|---|
# | **a** | nodes, each with several GPUs |
# | **b** | ranks that share the work of a step, one for each GPU |
# | **c** | units that the model is cut into |
#
# **(b)** $P = 7 \times 10^9$, $N = 8$: what stays on a rank?
#
# **(c)** Write `persistent(P, N)`, in bytes.
#
# <details><summary>Hint</summary>
#
# Step 2 gives the bytes of one parameter. Nothing else is in it but $P$ and $N$.
#
# </details>


# %% answer="w.5"
def persistent(P, N):
    """Bytes of training state that one of N ranks keeps of P parameters, fully sharded, with Adam."""
    ### BEGIN SOLUTION
    return 16 * P / N
    ### END SOLUTION


### BEGIN SOLUTION
n_counts = "b"  # one letter
kept_on_a_rank = f"{16 * 7 / 8} GB"  # a text with its unit
### END SOLUTION

# %% check="w.5" points=4
submit("w.5", n_counts=n_counts, kept_on_a_rank=kept_on_a_rank, persistent=persistent)
### BEGIN HIDDEN TESTS
P, N = 7 * 10**9, 8


def kept(P, N):
    return budget.state(budget.Method.ZERO3, P, N, budget.FP32).total


replica = budget.state(budget.Method.DP, P, N, budget.FP32).total
expect.choice(
    "n_counts",
    "b",
    among="abc",
    wrong={"a": "n-counts-nodes", "c": "n-counts-units"},
)
expect.quantity(
    "kept_on_a_rank",
    budget.gb(kept(P, N)),
    wrong={
        budget.gb(replica): "state-is-replicated",
        budget.gb(kept(P, N) / 2): "optimizer-state-forgotten",
        budget.gb(kept(P, N) / 4): "parameters-are-the-state",
        budget.gb(budget.state(budget.Method.ZERO1, P, N, budget.FP32).total): (
            "zero-stage-mixed-up"
        ),
        budget.mistaken_gib(kept(P, N)): "gib-for-gb",
    },
)
expect.function(
    "persistent",
    like=kept,
    given={"P": draw.integers(10**3, 10**12), "N": draw.choice([2, 3, 4, 8, 64, 1024])},
    edges=[{"P": 1_000_003, "N": 1}, {"P": 10, "N": 3}],
    examples=[{"P": 10**9, "N": 4}, {"P": 10**6, "N": 1}],
    wrong={
        "state-is-replicated": lambda P, N: 16 * P,
        "optimizer-state-forgotten": lambda P, N: budget.Fraction(8 * P, N),
        "parameters-are-the-state": lambda P, N: budget.Fraction(4 * P, N),
        "adam-state-is-16-bytes": lambda P, N: budget.Fraction(24 * P, N),
    },
    weight=2,
)
### END HIDDEN TESTS

# %%
explore(state.against_ranks, mine, "P", "N", formula=persistent)

# %% [markdown]
# *Picture: memory of one GPU against the number of ranks, on scales where each step multiplies. Replicas are a
# flat line; the sharded line falls by half with every doubling; a diamond marks your $N$.*

# %% [markdown]
# ## Step 6 · The bubble
#
# FSDP runs every layer as a whole: $y = Wx$ needs all of $W$. (Tensor parallelism multiplies with a slice of
# $W$; FSDP chooses not to.) So just before a **unit** of the model runs, an **all-gather** brings the missing
# pieces, and after use they are dropped. A bubble swells and bursts, once for each unit and pass.
#
# How large is it? Three things people get wrong:
#
# - A gather moves parameters alone, in the width that the matmul reads: 2 bytes each in bf16, 4 in fp32, never
#   the 16 of the whole column.
# - In backward the bubble is larger. The unit's **gradient** stands there too, whole, until a
#   **reduce-scatter** has added it up and left each rank its piece. And the unit that comes next is being
#   fetched already. For equal units that makes three.
# - It is no fixed share of the model. The largest unit decides: 1-2% holds for some 50 to 100 equal layers, and
#   an embedding can take several times as much.
#
# With `link` you say how long a gather takes, where the forward of a unit takes 1. With `prefetch` off, the next
# gather waits until the unit at work is done.

# %%
explore(
    moment.bubble, mine, "link", "prefetch", "largest", "dtype", link=0.5, prefetch=True
)

# %% [markdown]
# *Picture: above, two lanes over time. The GPU computes units 0 to 4, then 4 to 0 in backward, each twice as long;
# the link gathers (blue) before a unit runs and reduce-scatters (orange, hatched) after its backward. Below, the
# memory beyond the shard: one unit, then two while the next is fetched, and three at the end of each unit's
# backward, when its gradient is complete.*
#
# Move `link` above 1 and watch the GPU lane: gaps open in forward first, where a unit's compute is short. Without
# `prefetch` they are there on every link, and the bubble is smaller. That is the trade.

# %% [markdown]
# ### Exercise W.6 · Shard and bubble
#
# Persistent plus momentary: this is what a budget starts from. *(4 points)*
#
# A rank needs its shard and, at the fullest moment of backward, three units' worth of numbers in the compute width:
# $M(P, N, u, w) = 16P/N + 3uw$, for equal units of $u$ parameters and $w$ bytes each.
#
# **(a)** $P = 7 \times 10^9$, $N = 8$, units of $2.1 \times 10^8$ parameters, bf16: how large is the gathered copy
# of *one* unit?
#
# **(b)** Write `at_peak(P, N, unit, width)`, in bytes.
#
# <details><summary>Hint</summary>
#
# (a) is the blue step in the lower picture when forward begins.
#
# </details>


# %% answer="w.6"
def at_peak(P, N, unit, width):
    """Bytes on one of N ranks: the shard, and three equal units of `unit` parameters at `width` bytes each."""
    ### BEGIN SOLUTION
    return 16 * P / N + 3 * unit * width
    ### END SOLUTION


### BEGIN SOLUTION
one_bubble = f"{2.1e8 * 2 / 1e6} MB"  # a text with its unit
### END SOLUTION

# %% check="w.6" points=4
submit("w.6", one_bubble=one_bubble, at_peak=at_peak)
### BEGIN HIDDEN TESTS
P, N, unit, regime = 7 * 10**9, 8, 210_000_000, budget.FSDP2_MIXED


def shard(P, N):
    return budget.state(budget.Method.ZERO3, P, N, regime).total


def three(unit, width):
    return budget.transient([unit] * 3, width).total


one = unit * regime.compute
expect.quantity(
    "one_bubble",
    budget.mb(one),
    wrong={
        budget.mb(unit * 4): "gather-uses-the-stored-width",
        budget.mb(unit * 16): "gather-moves-the-whole-state",
        budget.mb(budget.Fraction(one, N)): "fsdp-splits-the-matmul",
        budget.mb(P * regime.compute): "gather-rebuilds-whole-model",
    },
)
expect.function(
    "at_peak",
    like=lambda P, N, unit, width: shard(P, N) + three(unit, width),
    given={
        "P": draw.integers(10**6, 10**12),
        "N": draw.choice([2, 3, 8, 64, 1024]),
        "unit": draw.integers(10**5, 10**9),
        "width": draw.choice([2, 4]),
    },
    edges=[
        {"P": 1000, "N": 1, "unit": 100, "width": 2},
        {"P": 10**9, "N": 4, "unit": 0, "width": 4},
    ],
    examples=[
        {"P": 10**9, "N": 4, "unit": 10**7, "width": 2},
        {"P": 10**9, "N": 1, "unit": 10**7, "width": 4},
    ],
    wrong={
        "transient-is-one-layer": lambda P, N, unit, width: shard(P, N) + unit * width,
        "transient-is-sharded-too": lambda P, N, unit, width: (
            (shard(P, 1) + three(unit, width)) / N
        ),
        "state-is-replicated": lambda P, N, unit, width: shard(P, 1) + three(unit, width),
        "gather-moves-the-whole-state": lambda P, N, unit, width: (
            shard(P, N) + three(unit, 16)
        ),
        "full-layer-never-exists": lambda P, N, unit, width: shard(P, N),
    },
    weight=2,
)
### END HIDDEN TESTS

# %% [markdown]
# ## Step 7 · What the formula does not protect you from
#
# **Activations are not in it.** What forward keeps for backward comes from a rank's own data. Nobody else has it, so
# there is nothing to shard, and at a fixed batch per GPU it does not depend on $N$. The cure is another:
# **checkpointing** keeps the input of each block and makes the rest again in backward, for one more forward. (Where a
# fixed *global* batch is split over more ranks, activations do shrink, with plain data parallelism just as well.)

# %%
explore(
    degenerate.apart, mine, "N", "batch", "sequence", "checkpointed", checkpointed=False
)

# %% [markdown]
# *Picture: two bars for each number of ranks. The blue one, $16P/N$, falls from left to right until it is gone; the
# hatched one, the activations of one rank, has the same height everywhere.*
#
# Two more cases, and the first again:
#
# 1. **$N = 1$.** There is nothing to cut: $16P/1 = 16P$. FSDP2 issues no collective, FSDP1 warns and switches to no
#    sharding. No harm, and no use.
# 2. **It fits anyway.** Gathers cost traffic and buy memory. Where nobody needs the memory, plain data parallelism or
#    ZeRO stage 1 may be faster. Count activations before you say that it fits, measure before you say how much
#    slower it would be, and remember that freed memory can buy a larger batch.
# 3. **Activations are larger than all the rest**, and more ranks change nothing.

# %%
explore(degenerate.cases, mine, "P", "N", "batch")

# %% [markdown]
# *Picture: three pairs of bars against the dashed line of the card. One rank: $16P$ and $16P/1$ are equally high. A
# model of 1.3 billion parameters: both bars fit. Your model: the shard beside its activations.*

# %% [markdown]
# ## All of it in one picture

# %%
explore(degenerate.summary, mine, "P", "N", "dtype", "largest", "batch")

# %% [markdown]
# *Picture: left, the full column that plain data parallelism puts on every rank. An arrow, "slice, deal out", leads to
# short columns in its dotted outline, each with a small hatched bubble on top. To the right and apart, the activations
# of one rank, which none of this touches.*
#
# **Said in plain words.** Every weight brings three companions along: a gradient, and Adam's two averages. Together
# they take 16 bytes, and in plain data parallelism every GPU keeps all of it, so more GPUs never help. FSDP cuts
# all four piles into $N$ pieces and gives one to each GPU: $16P/N$. To run a layer a GPU needs the whole of it, so
# the pieces are gathered just before, in the width of the matmul, and dropped right after; in backward the layer's
# gradient stands there too for a moment, and the next layer is on its way. Nothing of this touches activations:
# those shrink with the batch, or by recomputing them.

# %% [markdown]
# ## Self-check
#
# Eight questions, graded like a quiz. Fill in each `answer(…)`, run its cell, then the check below it. Half the
# points of a two-part question are for the first part; the reason counts only with it.

# %% [markdown] item="q031" points=1
# ### Question 1

# %% [markdown] item="q001" points=1
# ### Question 2

# %% [markdown] item="q028" points=1
# ### Question 3

# %% [markdown] item="q005" points=1
# ### Question 4

# %% [markdown] item="q051" points=1
# ### Question 5

# %% [markdown] item="q038" points=1
# ### Question 6

# %% [markdown] item="q036" points=1
# ### Question 7

# %% [markdown] item="q003" points=1
# ### Question 8

# %% [markdown]
# **Where to go on.** Level 1 asks you to recognise what you have seen here, level 2 to put numbers on it, level 3
# to work out what it costs in time, level 4 to combine it with other ways of splitting a model, and level 5 to
# deal with the activations.
