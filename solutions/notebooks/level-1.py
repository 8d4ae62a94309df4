# ---
# title: "Level 1 · Recognition"
# level: 1
# ---
# %% [markdown]
# # Level 1 · Recognition
#
# **What is cut up, what is sent, and what stays whole?**
#
# After this level you can
#
# - list what one GPU stores for every parameter, in fp32 and in mixed precision;
# - say which parts FSDP shards and which it leaves alone, and put that into a formula;
# - tell an all-gather from a reduce-scatter, write both, and count what they move;
# - place FSDP among the ZeRO stages, and say where the comparison ends.
#
# **How answers work.** Replace each `...` and each `raise NotImplementedError()`, run the cell, then run the
# `submit` cell below it: it answers at once, and `...` simply counts as not answered yet.
#
# - Give a quantity with its unit, as a text: `"1.5 GB"`. Any unit of the right kind will do:
#   `"1.5e9 B"` and `"1.397 GiB"` are the same answer. It counts as right within 1% of the exact value.
# - GB means $10^9$ bytes and GiB means $2^{30}$ bytes. They are not the same, and this course never mixes
#   them.
# - A function is tried on examples here and on other inputs when it is graded.
# - After a restart of the kernel, run the cells from the top again.
#
# | symbol | meaning |
# |---|---|
# | $P$ | parameters of the model |
# | $N$ | ranks: one process for each GPU |
# | $S$ | bytes of a whole array |

# %% locked="setup"
import matplotlib.pyplot as plt

from autograder import submit

# Colours that stay apart for every kind of colour vision (Okabe and Ito).
COLOUR = {
    "parameter": "#56B4E9",
    "gradient": "#E69F00",
    "fp32 master": "#F0E442",
    "momentum": "#009E73",
    "variance": "#CC79A7",
}

# %% [markdown]
# ## What one parameter costs
#
# Training stores more than the model. Each parameter $\theta$ comes with its gradient
# $g = \partial \mathcal{L} / \partial \theta$, and Adam adds two running averages: the momentum $m$ of past gradients
# and the variance $v$ of their squares. Two of the four, not three: the gradient belongs to training itself,
# not to the optimizer.
#
# Kept in fp32, each of the four takes 4 bytes. **Mixed precision** in ZeRO's layout computes with 2-byte
# parameters and gradients, and adds an fp32 *master* copy of the parameter, in which small updates do not get
# lost.
#
# | regime | parameter | gradient | optimizer state | sum |
# |---|---|---|---|---|
# | fp32 Adam | 4 | 4 | 4 + 4 | 16 B |
# | mixed, ZeRO layout | 2 | 2 | 4 (master) + 4 + 4 | 16 B |
#
# The sums agree; the splits do not. That matters as soon as a method shards only some of the rows, so every
# exercise says which regime it is in.


# %%
def column(ax, x, parts, shrink=1, label=True):
    """A box for each (name, bytes) of `parts`, stacked at x, 1/shrink of its height."""
    bottom = 0
    for name, size in parts:
        ax.bar(
            x,
            size / shrink,
            0.7,
            bottom,
            color=COLOUR[name],
            edgecolor="black",
            linewidth=0.8,
        )
        if label:
            ax.text(
                x,
                bottom + size / shrink / 2,
                f"{name}, {size} B",
                ha="center",
                va="center",
                fontsize=9,
            )
        bottom += size / shrink


FP32 = [("parameter", 4), ("gradient", 4), ("momentum", 4), ("variance", 4)]
MIXED = [
    ("parameter", 2),
    ("gradient", 2),
    ("fp32 master", 4),
    ("momentum", 4),
    ("variance", 4),
]

fig, ax = plt.subplots(figsize=(5.5, 3.8), layout="constrained")
column(ax, 0, FP32)
column(ax, 1, MIXED)
ax.set(
    xticks=[0, 1],
    xticklabels=["fp32 Adam", "mixed, ZeRO layout"],
    ylabel="bytes a parameter",
    yticks=range(0, 17, 4),
)
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %% [markdown]
# *Picture: two columns of equal height, 16 bytes. Left, four boxes of 4 bytes: parameter, gradient, momentum,
# variance. Right, five boxes: a 2-byte parameter and a 2-byte gradient, then master, momentum and variance of
# 4 bytes each.*

# %% [markdown]
# ## Replicas against shards
#
# **Plain data parallelism** gives each rank its own batch and a whole copy of everything above. Adding ranks
# adds copies. **Full sharding** keeps one copy for the whole group: every array is cut into $N$ pieces,
#
# $$\theta = \big[\,\theta^{(0)} \mid \theta^{(1)} \mid \cdots \mid \theta^{(N-1)}\,\big],$$
#
# and rank $i$ stores piece $i$ of each.

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
for rank in range(4):
    column(left, rank, FP32, label=False)
    right.bar(rank, 16, 0.7, color="none", edgecolor="grey", linestyle=":")
    column(right, rank, FP32, shrink=4, label=False)
left.set(
    title="plain data parallelism",
    ylabel="bytes a parameter, on one GPU",
    yticks=range(0, 17, 4),
)
right.set(title="full sharding, N = 4")
for ax in (left, right):
    ax.set(xticks=range(4), xticklabels=[f"GPU {rank}" for rank in range(4)])
    ax.spines[["top", "right"]].set_visible(False)
boxes = {
    name: plt.Rectangle((0, 0), 1, 1, color=COLOUR[name]) for name, _ in reversed(FP32)
}
fig.legend(boxes.values(), boxes.keys(), loc="outside right center", frameon=False)
plt.show()

# %% [markdown]
# *Picture: left, four GPUs with four equal full-height columns, carbon copies of one another. Right, the same
# four GPUs: each column has the same four colours at a quarter of the height, inside a dotted outline of what
# it was.*

# %% [markdown]
# ## Exercise 1.1 · What is sharded?
#
# A training run dies with an out-of-memory error, somebody adds GPUs, and it dies again at the same place. To
# see why, one has to know what more GPUs make smaller. *(4 points)*
#
# **(a)** Of which of these does a rank hold only its $1/N$ under FSDP's full sharding?
#
# | | |
# |---|---|
# | **a** | the parameters, between uses |
# | **b** | the activations of its batch, kept for backward |
# | **c** | the optimizer's momentum |
# | **d** | the gradients, once they are reduced |
# | **e** | the weight of a layer, while that layer's matmul runs |
#
# Give the letters as a set, for instance `{"b", "e"}`.
#
# **(b)** A model of $P = 1.5 \times 10^9$ parameters is trained with fp32 Adam (16 bytes a parameter) on
# $N = 4$ GPUs with full sharding. On each GPU the activations of its batch take 5 GB. How much do training
# state and activations take together, on one GPU? Leave gathered layers out; they come in level 2.
#
# **(c)** In general: write `per_rank(state, activations, N)`. `state` is one full copy of the training state
# and `activations` what one rank's batch needs, both in bytes; return the bytes on one rank.
#
# **(d)** So far each rank's batch was fixed. Now the *global* batch is fixed and is split over the ranks:
# with twice as many of them, the activations on each rank are
#
# | | |
# |---|---|
# | **a** | half as large |
# | **b** | as large as before |
# | **c** | twice as large |
#
# <details><summary>Hint</summary>
#
# Ask of each array: is it there between two steps, and does another rank have the same one? Activations come
# from a rank's own samples. Nobody else has them, so there is no second copy to save.
#
# </details>

# %% answer="1.1"
### BEGIN SOLUTION
sharded = {"a", "c", "d"}  # letters, e.g. {"b", "e"}
on_one_gpu = f"{16 * 1.5 / 4 + 5} GB"  # a text with its unit
fixed_global_batch = "a"  # one letter
### END SOLUTION


def per_rank(state, activations, N):
    """Bytes of training state and activations on one of N ranks under full sharding.

    state: bytes of one full copy of the training state; activations: bytes that one rank's batch needs.
    """
    ### BEGIN SOLUTION
    return state / N + activations
    ### END SOLUTION


# %% check="1.1" points=4
submit(
    "1.1",
    sharded=sharded,
    on_one_gpu=on_one_gpu,
    per_rank=per_rank,
    fixed_global_batch=fixed_global_batch,
)
### BEGIN HIDDEN TESTS
state = budget.state(budget.Method.DP, 1_500_000_000, 1, budget.FP32).total
activations = 5 * 10**9
expect.choices(
    "sharded",
    right={"a", "c", "d"},
    among="abcde",
    wrong={"b": "activations-are-sharded", "e": "fsdp-splits-the-matmul"},
)
expect.quantity(
    "on_one_gpu",
    budget.gb(state / 4 + activations),
    wrong={
        budget.gb((state + activations) / 4): "activations-are-sharded",
        budget.gb(state + activations): "state-is-replicated",
        budget.gb(state / 4): "activations-forgotten",
        budget.gb(state / 4 / 4 + activations): "parameters-are-the-state",
        budget.gb(state / 2 / 4 + activations): "optimizer-state-forgotten",
    },
    because="The state is divided by N, the activations of a rank's own batch are not.",
)
expect.function(
    "per_rank",
    like=lambda state, activations, N: budget.Fraction(state, N) + activations,
    given={
        "state": draw.integers(10**6, 10**12),
        "activations": draw.integers(10**6, 10**11),
        "N": draw.choice([2, 3, 4, 8, 64, 1000]),
    },
    edges=[
        {"state": 16, "activations": 5, "N": 1},
        {"state": 48, "activations": 0, "N": 3},
    ],
    examples=[
        {"state": 32 * 10**9, "activations": 10**9, "N": 8},
        {"state": 10**9, "activations": 10**9, "N": 1},
    ],
    wrong={
        "activations-are-sharded": lambda state, activations, N: budget.Fraction(
            state + activations, N
        ),
        "state-is-replicated": lambda state, activations, N: state + activations,
        "activations-forgotten": lambda state, activations, N: budget.Fraction(state, N),
    },
)
expect.choice(
    "fixed_global_batch",
    "a",
    among=["a", "b", "c"],
    wrong={"b": "activations-ignore-the-batch"},
)
### END HIDDEN TESTS

# %% [markdown]
# **What this means in practice.** When a sharded run is out of memory, first find out which part of the
# budget is full. If it is the shard, more ranks help. If it is not, adding ranks at the same batch per GPU
# changes nothing: shrink the batch per GPU, shorten the sequence, or recompute activations. PyTorch's memory
# snapshot shows which it is.

# %% [markdown]
# ## Exercise 1.2 · Two collectives
#
# All of FSDP's traffic is made of two operations. Whoever can write them down on paper can count bytes, find
# a deadlock and spot a wrong average. *(6 points)*
#
# The picture shows two operations, **A** and **B**, on three ranks. A box is one part of an array; its colour
# says which part.

# %%
PART = ["#56B4E9", "#E69F00", "#CC79A7"]


def blocks(ax, title, rows):
    """Row r shows what rank r holds: {part: text}."""
    for rank, row in enumerate(rows):
        for part, text in row.items():
            ax.barh(
                rank,
                0.94,
                height=0.7,
                left=part,
                color=PART[part],
                edgecolor="black",
                linewidth=0.8,
            )
            ax.text(part + 0.47, rank, text, ha="center", va="center", fontsize=10)
    ax.set(title=title, xlim=(-0.1, 3.05), ylim=(2.6, -0.6), xticks=[], yticks=range(3))
    ax.set_yticklabels([f"rank {rank}" for rank in range(3)])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


fig, axes = plt.subplots(2, 2, figsize=(8, 4.6), layout="constrained")
whole = {0: "x0", 1: "x1", 2: "x2"}
blocks(axes[0, 0], "A, before", [{rank: f"x{rank}"} for rank in range(3)])
blocks(axes[0, 1], "A, after", [whole, whole, whole])
blocks(
    axes[1, 0],
    "B, before",
    [{part: f"{name}{part}" for part in range(3)} for name in "abc"],
)
blocks(axes[1, 1], "B, after", [{rank: f"a{rank}+b{rank}+c{rank}"} for rank in range(3)])
plt.show()

# %% [markdown]
# *Picture: in operation A, rank r starts with part r alone, and afterwards every rank has all three parts. In
# operation B, every rank starts with an array of its own in three parts, and afterwards rank r has one part:
# the sum of part r over all ranks.*
#
# **(a)** FSDP runs **A** on a layer's weights just before the layer computes, and **B** on its gradients just
# after its backward. What are they called? Choose from `"all-gather"`, `"all-reduce"`, `"broadcast"`,
# `"reduce-scatter"`.
#
# **(b)** A gradient of 1200 MB is put through operation **B** on a ring of 6 ranks. How much does one rank
# keep, and how much does it receive on the way?
#
# **(c)** Write `received(S, N)`: the bytes that one rank receives when **B** runs on an array of $S$ bytes on
# a ring of
# $N$ ranks.
#
# **(d)** Write both operations on plain lists. `all_gather(shards)` takes one list for each rank and returns,
# for each rank, what it holds afterwards. So does `reduce_scatter(grads)`; the gradients there have one
# length, which $N$ divides.
#
# ```python
# all_gather([[1, 2], [3]])            ->  [[1, 2, 3], [1, 2, 3]]
# reduce_scatter([[1, 2], [30, 40]])   ->  [[31], [42]]
# ```
#
# **(e)** Data-parallel training needs the *mean* of the ranks' gradients, as if all batches were one. Write
# `mean_shards(grads)`: the shards that the ranks hand to the optimizer.
#
# <details><summary>Hint for (b) and (c)</summary>
#
# On a ring, $N - 1$ rounds take place, and in each round a rank receives one part of size $S/N$. Try $N = 2$
# with a pencil, then ask what $N = 1$ must give.
#
# </details>
#
# <details><summary>Hint for (d) and (e)</summary>
#
# `sum(column)` for `column in zip(*grads)` adds up what all ranks have at the same place. Rank $i$ keeps
# places $i k$ to
# $(i+1) k - 1$, where $k$ is the length divided by $N$. The collective itself adds; who divides, and how often?
#
# </details>

# %% answer="1.2"
### BEGIN SOLUTION
operation_a = "all-gather"  # a name
operation_b = "reduce-scatter"  # a name
kept = f"{1200 / 6} MB"  # a text with its unit
received_on_the_way = f"{1200 * 5 / 6} MB"  # a text with its unit
### END SOLUTION


def received(S, N):
    """Bytes one rank receives when B runs on an array of S bytes on a ring of N ranks."""
    ### BEGIN SOLUTION
    return S * (N - 1) / N
    ### END SOLUTION


def all_gather(shards):
    """What each rank holds after; shards[r] is what rank r holds before (of any length)."""
    ### BEGIN SOLUTION
    whole = [number for shard in shards for number in shard]
    return [list(whole) for _ in shards]
    ### END SOLUTION


def reduce_scatter(grads):
    """Each rank's part of the sum; grads[r] is the gradient of rank r.

    All gradients have one length, which N = len(grads) divides.
    """
    ### BEGIN SOLUTION
    total = [sum(column) for column in zip(*grads, strict=True)]
    k = len(total) // len(grads)
    return [total[rank * k : (rank + 1) * k] for rank in range(len(grads))]
    ### END SOLUTION


def mean_shards(grads):
    """As reduce_scatter, but of the mean loss: what the ranks' optimizers are given."""
    ### BEGIN SOLUTION
    return [[number / len(grads) for number in shard] for shard in reduce_scatter(grads)]
    ### END SOLUTION


# %% check="1.2" points=6
submit(
    "1.2",
    operation_a=operation_a,
    operation_b=operation_b,
    kept=kept,
    received_on_the_way=received_on_the_way,
    received=received,
    all_gather=all_gather,
    reduce_scatter=reduce_scatter,
    mean_shards=mean_shards,
)
### BEGIN HIDDEN TESTS
S, N = 1200 * 10**6, 6
names = ["all-gather", "all-reduce", "broadcast", "reduce-scatter"]
expect.choice(
    "operation_a",
    "all-gather",
    among=names,
    wrong={"reduce-scatter": "collectives-mixed-up"},
    weight=0.5,
)
expect.choice(
    "operation_b",
    "reduce-scatter",
    among=names,
    wrong={"all-gather": "collectives-mixed-up", "all-reduce": "gradients-are-all-reduced"},
    weight=0.5,
)
expect.quantity(
    "kept",
    budget.mb(budget.Fraction(S, N)),
    wrong={
        budget.mb(S): "gradients-are-all-reduced",
        budget.mb(budget.reduce_scatter(S, N)): "received-is-what-is-kept",
        budget.mb(N * S): "collectives-mixed-up",
    },
    weight=0.5,
)
expect.quantity(
    "received_on_the_way",
    budget.mb(budget.reduce_scatter(S, N)),
    wrong={
        budget.mb(budget.Fraction(S, N)): "received-is-what-is-kept",
        budget.mb(S): "own-shard-travels-too",
        budget.mb(budget.all_reduce(S, N)): "gradients-are-all-reduced",
    },
    weight=0.5,
    because="In each of the N − 1 rounds a rank receives one part of S/N bytes.",
)
expect.function(
    "received",
    like=lambda S, N: budget.reduce_scatter(S, N),
    given={"S": draw.integers(1, 10**12), "N": draw.choice([2, 3, 4, 7, 8, 64, 1000])},
    edges=[{"S": 1000, "N": 1}, {"S": 0, "N": 4}],
    examples=[{"S": 900, "N": 3}, {"S": 10**9, "N": 2}],
    wrong={
        "received-is-what-is-kept": lambda S, N: budget.Fraction(S, N),
        "own-shard-travels-too": lambda S, N: S,
        "gradients-are-all-reduced": lambda S, N: budget.all_reduce(S, N),
    },
)


def gathered(shards):
    return [[number for shard in shards for number in shard] for _ in shards]


def parts(grads, own=None, divide=1):
    """What each rank keeps of the sum (or, with `own`, of its own gradient) divided by `divide`."""
    k = len(grads[0]) // len(grads)
    total = [sum(column) for column in zip(*grads, strict=True)]
    rows = [row if own else total for row in grads]
    return [
        [budget.Fraction(x, divide) for x in row[r * k : (r + 1) * k]]
        for r, row in enumerate(rows)
    ]


numbers = draw.integers(-50, 50)
gradients = draw.lists(draw.lists(numbers, min=12, max=12), min=2, max=4)
expect.function(
    "all_gather",
    like=gathered,
    given={"shards": draw.lists(draw.lists(numbers, min=1, max=4), min=2, max=5)},
    edges=[{"shards": [[7, 8]]}, {"shards": [[1], [], [2, 3]]}],
    examples=[{"shards": [[1, 2], [3]]}, {"shards": [[4], [5], [6]]}],
    wrong={"full-layer-never-exists": lambda shards: shards},
)
expect.function(
    "reduce_scatter",
    like=parts,
    given={"grads": gradients},
    edges=[{"grads": [[3, 4, 5]]}, {"grads": [[1, -1], [-1, 1]]}],
    examples=[
        {"grads": [[1, 2], [30, 40]]},
        {"grads": [[1, 2, 3], [10, 20, 30], [100, 200, 300]]},
    ],
    wrong={
        "gradients-are-all-reduced": lambda grads: [
            [sum(c) for c in zip(*grads, strict=True)] for _ in grads
        ],
        "scatter-without-reduce": lambda grads: parts(grads, own=True),
        "shard-of-the-wrong-rank": lambda grads: [parts(grads)[0] for _ in grads],
        "collectives-mixed-up": lambda grads: gathered(grads),
    },
)
expect.function(
    "mean_shards",
    like=lambda grads: parts(grads, divide=len(grads)),
    given={"grads": gradients},
    edges=[{"grads": [[3, 4, 5]]}, {"grads": [[1, -1], [-1, 1]]}],
    examples=[{"grads": [[1, 2], [30, 40]]}, {"grads": [[6, 0], [0, 6]]}],
    wrong={
        "sum-for-mean": parts,
        "averaged-twice": lambda grads: parts(grads, divide=len(grads) ** 2),
        "scatter-without-reduce": lambda grads: parts(grads, own=True),
    },
)
### END HIDDEN TESTS

# %% [markdown]
# **What this means in practice.** Traffic and memory are two counts. What a rank *keeps* falls as $1/N$; what
# it *receives* grows towards the size of the array. Sharding over more GPUs saves memory, not traffic for
# each of them.
#
# The division by $N$ is real code with a real place. `torch.distributed` has `ReduceOp.AVG` for it, or it is
# done to the gradient before or after the collective. Forget it, and the learning rate is in effect $N$ times
# too large under SGD; Adam hides the mistake, because it divides the scale of the gradient out again.

# %% [markdown]
# ## Exercise 1.3 · FSDP among the ZeRO stages
#
# Papers say ZeRO, PyTorch says FSDP, and configuration files say `stage: 2`. One table serves all three. *(5
# points)*
#
# ZeRO numbers its stages by how much of the training state is sharded; stage 0 is plain data parallelism.
#
# **(a)** FSDP's *full sharding* is ZeRO stage …? (A number from 0 to 3.)
#
# **(b)** With `fully_shard(module, reshard_after_forward=False)` a rank frees the gathered parameters only
# after backward. From forward to backward, the memory of a rank is then most like that of stage …?
#
# **(c)** Write `keeps(stage, N)`: the fractions of parameters, gradients and optimizer state that one of $N$
# ranks keeps between steps, as a list of three numbers in this order.
#
# **(d)** Shards are seldom all equal. FSDP2 cuts each parameter along its first dimension, as `torch.chunk`
# does: the ranks take $\lceil \text{rows}/N \rceil$ rows each, in order, for as long as there are rows. Write
# `shard_rows(rows, N)`: the rows on each rank.
#
# <details><summary>Hint</summary>
#
# Each stage keeps what the one before it shards and adds one part. The first part to go is the largest one,
# which is also the one that only the update needs. For (d), what is left over when rank $r$ takes its turn?
#
# </details>

# %% answer="1.3"
### BEGIN SOLUTION
full_sharding = 3  # a number
kept_until_backward = 2  # a number
### END SOLUTION


def keeps(stage, N):
    """The fractions a rank keeps in ZeRO stage 0, 1, 2 or 3.

    In this order: [parameters, gradients, optimizer state].
    """
    ### BEGIN SOLUTION
    return [1 / N if stage >= first else 1 for first in (3, 2, 1)]
    ### END SOLUTION


def shard_rows(rows, N):
    """Rows of a parameter on rank 0, 1, ..., N-1 under FSDP2: a list of N numbers."""
    ### BEGIN SOLUTION
    each = -(-rows // N)
    return [min(each, max(0, rows - rank * each)) for rank in range(N)]
    ### END SOLUTION


# %% check="1.3" points=5
submit(
    "1.3",
    full_sharding=full_sharding,
    kept_until_backward=kept_until_backward,
    keeps=keeps,
    shard_rows=shard_rows,
)
### BEGIN HIDDEN TESTS
expect.choice(
    "full_sharding",
    3,
    among=[0, 1, 2, 3],
    wrong={1: "zero-stage-mixed-up", 2: "zero-stage-mixed-up", 0: "state-is-replicated"},
)
expect.choice(
    "kept_until_backward",
    2,
    among=[0, 1, 2, 3],
    wrong={3: "fsdp-is-always-zero3", 1: "zero-stage-mixed-up"},
    because="Parameters are whole again, gradients and optimizer state stay sharded.",
)
expect.function(
    "keeps",
    like=lambda stage, N: list(budget.kept(budget.stage(stage), N)),
    given={"stage": draw.integers(0, 3), "N": draw.choice([2, 3, 4, 8, 64, 1000])},
    edges=[{"stage": 3, "N": 1}, *({"stage": stage, "N": 5} for stage in range(4))],
    draws=24,
    examples=[{"stage": 1, "N": 4}, {"stage": 2, "N": 2}, {"stage": 3, "N": 8}],
    wrong={
        "zero-stage-mixed-up": lambda stage, N: list(budget.kept(budget.stage(stage), N))[
            ::-1
        ],
        "everything-divides-by-n": lambda stage, N: [budget.Fraction(1, N)] * 3,
    },
    weight=2,
)
expect.function(
    "shard_rows",
    like=lambda rows, N: budget.chunk_rows(rows, N),
    given={"rows": draw.integers(1, 60), "N": draw.integers(2, 12)},
    edges=[{"rows": 5, "N": 1}, {"rows": 1, "N": 6}],
    examples=[{"rows": 8, "N": 4}, {"rows": 7, "N": 3}, {"rows": 3, "N": 8}],
    wrong={
        "shards-are-always-equal": lambda rows, N: [-(-rows // N)] * N,
        "rows-dealt-evenly": lambda rows, N: [
            rows // N + (rank < rows % N) for rank in range(N)
        ],
    },
)
### END HIDDEN TESTS

# %% [markdown]
# **What this means in practice.** Read a configuration by what stays whole on a rank, not by its name. Hybrid
# modes, for example, shard inside a node and replicate across nodes, so that a rank keeps more than $1/N$ of
# everything. And if a checkpoint or a custom optimizer expects equal shards, look at the last ranks first:
# some hold less, some hold nothing.
