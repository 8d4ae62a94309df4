# ---
# title: "Level 3 · Analysis"
# level: 3
# ---
# %% [markdown]
# # Level 3 · Analysis
#
# **It fits. Will it also be fast?**
#
# After this level you can
#
# - say how many bytes a rank sends and receives in a training step, for each method;
# - turn bytes into time on a given link, and compare it with compute;
# - say how much of the communication shows, and what to change when too much of it does.
#
# **How answers work.** As before: replace each `...` and each `raise NotImplementedError()`, run the cell,
# then run the
# `submit` cell below it. Quantities are texts with a unit and count as right within 1%. Functions take and
# return plain
# numbers: bytes, seconds, bytes a second.
#
# **Counting.** Traffic is counted for one rank and one direction: what it receives, which in a ring is
# what it sends.
# $S$ is the size of a full array in bytes, $P$ the number of parameters, $N$ the number of ranks.
#
# | collective | a rank receives |
# |---|---|
# | all-gather of an array of $S$ bytes | $\frac{N-1}{N} \cdot S$ |
# | reduce-scatter of an array of $S$ bytes | $\frac{N-1}{N} \cdot S$ |
# | all-reduce of an array of $S$ bytes | both of them |

# %% locked="setup"
import matplotlib.pyplot as plt

from autograder import submit

# Colours that stay apart for every kind of colour vision (Okabe and Ito).
BLUE, ORANGE = "#56B4E9", "#E69F00"

# %% [markdown]
# ## Exercise 3.1 · What arrives in a gather
#
# A rank keeps $1/N$ of a layer. So with more ranks it keeps less. Does it also receive less? *(4 points)*
#
# A layer has 700 MB of bf16 parameters and is fully sharded over $N = 8$ ranks.
#
# **(a)** How much of it does a rank keep between uses?
#
# **(b)** How much does a rank receive in one all-gather of it?
#
# **(c)** The same layer on $N = 64$ ranks: how much does a rank receive now?
#
# **(d)** Write `gathered(S, N)`: the bytes a rank receives in an all-gather of an array of $S$ bytes.
#
# **(e)** $N$ doubles again and again. What becomes of the bytes a rank *receives* in a gather?
#
# - `"a"`: they are halved each time
# - `"b"`: they grow towards the size of the layer, and never reach it
# - `"c"`: they double each time
# - `"d"`: they stay exactly the same
#
# <details><summary>Hint</summary>
#
# A rank has its own shard already. What is missing is everybody else's.
#
# </details>

# %% answer="3.1"
### BEGIN SOLUTION
kept = f"{700 / 8} MB"  # a text with its unit
received = f"{7 / 8 * 700} MB"  # a text with its unit
received_on_64 = f"{63 / 64 * 700} MB"  # a text with its unit
### END SOLUTION


def gathered(S, N):
    """Bytes that one of N ranks receives in an all-gather of an array of S bytes."""
    ### BEGIN SOLUTION
    return S * (N - 1) / N
    ### END SOLUTION


### BEGIN SOLUTION
more_ranks = "b"  # a, b, c or d
### END SOLUTION

# %% check="3.1" points=4
submit(
    "3.1",
    kept=kept,
    received=received,
    received_on_64=received_on_64,
    gathered=gathered,
    more_ranks=more_ranks,
)
### BEGIN HIDDEN TESTS
S = 700 * 10**6

expect.quantity(
    "kept",
    budget.mb(budget.Fraction(S, 8)),
    wrong={
        budget.mb(S): "state-is-replicated",
        budget.mb(budget.all_gather(S, 8)): "received-is-what-is-kept",
        budget.mb(budget.Fraction(S, 7)): "own-shard-travels-too",
    },
    because="One eighth stays; the other seven lie on the other ranks.",
)
expect.quantity(
    "received",
    budget.mb(budget.all_gather(S, 8)),
    wrong={
        budget.mb(S): "own-shard-travels-too",
        budget.mb(budget.Fraction(S, 8)): "received-is-what-is-kept",
        budget.mb(budget.all_reduce(S, 8)): "reduce-scatter-costs-more",
    },
    because="The other seven shards, 7/8 of the layer.",
)
expect.quantity(
    "received_on_64",
    budget.mb(budget.all_gather(S, 64)),
    rel=0.005,
    wrong={
        budget.mb(S): "own-shard-travels-too",
        budget.mb(budget.Fraction(S, 64)): "received-is-what-is-kept",
        budget.mb(budget.all_gather(S, 8) / 8): "sharding-cuts-traffic",
    },
    because="63/64 of the layer: more ranks keep less and receive a little more.",
)
expect.function(
    "gathered",
    like=lambda S, N: budget.all_gather(S, N),
    given={"S": draw.integers(10**3, 10**10), "N": draw.choice([2, 3, 5, 8, 64, 1000])},
    edges=[{"S": 1000, "N": 1}, {"S": 0, "N": 4}],
    examples=[{"S": 10**9, "N": 4}, {"S": 10**6, "N": 1}],
    wrong={
        "own-shard-travels-too": lambda S, N: S,
        "received-is-what-is-kept": lambda S, N: budget.Fraction(S, N),
        "reduce-scatter-costs-more": lambda S, N: 2 * budget.all_gather(S, N),
    },
    weight=2,
)
expect.choice(
    "more_ranks",
    "b",
    among=["a", "b", "c", "d"],
    wrong={
        "a": "sharding-cuts-traffic",
        "c": "more-ranks-always-help",
        "d": "own-shard-travels-too",
    },
    because="(N − 1)/N goes from 1/2 towards 1.",
)
### END HIDDEN TESTS

# %% [markdown]
# **What this means in practice.** Sharding over more ranks buys memory. It buys no traffic: what a rank
# receives comes
# closer and closer to the whole layer, while every ring takes more rounds, each with its latency. That is
# why large runs
# shard inside a group of ranks and replicate across groups.

# %% [markdown]
# ## Exercise 3.2 · A slow link
#
# The same layer of 700 MB on $N = 8$ ranks, now over links of 10 Gbit/s. Its forward takes 200 ms of
# compute, its
# backward twice that: one matmul for the gradient of the input, one for that of the weights. *(6 points)*
#
# Full sharding gathers the layer for forward, gathers it again for backward, and reduce-scatters its
# gradient, all in
# bf16. Plain data parallelism all-reduces its gradient, in bf16 too. Leave latency aside.
#
# **(a)** How many bytes a second does a link of 10 Gbit/s carry?
#
# **(b)** How long does one all-gather of the layer take?
#
# **(c)** How long does a rank communicate for this layer in one step, forward and backward, with full
# sharding?
#
# **(d)** What is the ratio of communication to compute, with full sharding?
#
# **(e)** And with plain data parallelism?
#
# **(f)** Write `comm_ratio(S, N, bandwidth, forward, collectives)` for any layer: $S$ bytes, `bandwidth`
# in bytes a
# second, `forward` seconds of compute in forward, `collectives` how many gathers and reduce-scatters a step.
#
# **(g)** Which conclusion holds?
#
# - `"a"`: full sharding is bound by this link, plain data parallelism is not
# - `"b"`: both are bound by it; full sharding by half as much again
# - `"c"`: neither is bound, since both ratios can be hidden by overlap
# - `"d"`: only the first gather counts, so the ratio is the same for both
#
# <details><summary>Hint</summary>
#
# Eight bits are a byte. An all-reduce counts as two collectives. Compute is forward and backward together.
#
# </details>

# %% answer="3.2"
### BEGIN SOLUTION
bandwidth = f"{10 / 8} GB/s"  # a text with its unit
one_gather = f"{7 / 8 * 700 / 1250 * 1000} ms"  # a text with its unit
communication = f"{3 * 7 / 8 * 700 / 1250 * 1000} ms"  # a text with its unit
sharded_ratio = 3 * 490 / 600  # a number
replicated_ratio = 2 * 490 / 600  # a number
### END SOLUTION


def comm_ratio(S, N, bandwidth, forward, collectives):
    """Communication over compute of one layer in one step.

    S: bytes of the layer; bandwidth: bytes a second; forward: seconds; collectives: gathers and reduce-scatters a step.
    """
    ### BEGIN SOLUTION
    one = S * (N - 1) / N / bandwidth
    return collectives * one / (forward + 2 * forward)
    ### END SOLUTION


### BEGIN SOLUTION
conclusion = "b"  # a, b, c or d
### END SOLUTION

# %% check="3.2" points=6
submit(
    "3.2",
    bandwidth=bandwidth,
    one_gather=one_gather,
    communication=communication,
    sharded_ratio=sharded_ratio,
    replicated_ratio=replicated_ratio,
    comm_ratio=comm_ratio,
    conclusion=conclusion,
)
### BEGIN HIDDEN TESTS
S, N, forward = 700 * 10**6, 8, budget.Fraction(200, 1000)
link = budget.link_bytes(10)
one = budget.ring_time(S, N, link)
compute = forward + budget.time.backward_time(forward)


def ms(seconds):
    return f"{budget.number(1000 * seconds)} ms"


def ratio(S, N, bandwidth, forward, collectives, factor=True, backward=2):
    share = budget.Fraction(N - 1, N) if factor else 1
    whole = (1 + backward) * budget.Fraction(forward)
    return collectives * share * budget.Fraction(S) / budget.Fraction(bandwidth) / whole


expect.quantity(
    "bandwidth",
    f"{budget.number(link / 10**9)} GB/s",
    wrong={
        "10 GB/s": "bits-for-bytes",
        "80 GB/s": "bits-for-bytes",
        "0.15625 GB/s": "bits-for-bytes",
    },
    because="Ten billion bits, eight to a byte.",
)
expect.quantity(
    "one_gather",
    ms(one),
    wrong={
        ms(budget.seconds(S, link)): "own-shard-travels-too",
        ms(one / 8): "bits-for-bytes",
        ms(budget.seconds(budget.Fraction(S, N), link)): "received-is-what-is-kept",
    },
)
expect.quantity(
    "communication",
    ms(3 * one),
    wrong={
        ms(one): "one-collective-a-layer",
        ms(2 * one): "weights-kept-after-forward",
        ms(3 * budget.seconds(S, link)): "own-shard-travels-too",
        ms(4 * one): "reduce-scatter-costs-more",
    },
    because="Two gathers and a reduce-scatter, one ring each.",
)
expect.quantity(
    "sharded_ratio",
    3 * one / compute,
    wrong={
        ratio(S, N, link, forward, 3, factor=False): "own-shard-travels-too",
        one / compute: "one-collective-a-layer",
        3 * one / (2 * forward): "backward-costs-one-forward",
        2 * one / compute: "weights-kept-after-forward",
    },
)
expect.quantity(
    "replicated_ratio",
    2 * one / compute,
    wrong={
        ratio(S, N, link, forward, 2, factor=False): "own-shard-travels-too",
        one / compute: "one-collective-a-layer",
        2 * one / (2 * forward): "backward-costs-one-forward",
        3 * one / compute: "reduce-scatter-costs-more",
    },
    because="An all-reduce is a reduce-scatter and an all-gather.",
)
expect.function(
    "comm_ratio",
    like=ratio,
    given={
        "S": draw.integers(10**6, 10**9),
        "N": draw.choice([2, 3, 8, 64]),
        "bandwidth": draw.integers(10**8, 10**11),
        "forward": draw.choice([0.01, 0.125, 0.2, 1.5]),
        "collectives": draw.integers(1, 6),
    },
    edges=[{"S": 10**6, "N": 1, "bandwidth": 10**9, "forward": 0.5, "collectives": 3}],
    examples=[{"S": 10**9, "N": 4, "bandwidth": 10**9, "forward": 0.5, "collectives": 3}],
    wrong={
        "own-shard-travels-too": lambda S, N, bandwidth, forward, collectives: ratio(
            S, N, bandwidth, forward, collectives, factor=False
        ),
        "backward-costs-one-forward": lambda S, N, bandwidth, forward, collectives: ratio(
            S, N, bandwidth, forward, collectives, backward=1
        ),
        "one-collective-a-layer": lambda S, N, bandwidth, forward, collectives: ratio(
            S, N, bandwidth, forward, 1
        ),
        "bits-for-bytes": lambda S, N, bandwidth, forward, collectives: (
            8 * ratio(S, N, bandwidth, forward, collectives)
        ),
    },
    weight=2,
)
expect.choice(
    "conclusion",
    "b",
    among=["a", "b", "c", "d"],
    wrong={
        "a": "always-use-fsdp",
        "c": "overlap-is-complete",
        "d": "one-collective-a-layer",
    },
    because="1.63 and 2.45 are both far above 1, and no overlap hides what is longer than compute.",
)
### END HIDDEN TESTS

# %% [markdown]
# **What this means in practice.** On a link this slow it is wrong to say "not FSDP, then": the all-reduce
# of plain data
# parallelism takes 980 ms where there are 600 ms to hide it in. What helps both is the same: more tokens a
# rank and
# step, so that there is more compute to one round of communication; reducing in 16 bits; a group that
# shards inside the
# machine, where the links are fast.

# %% [markdown]
# ## Exercise 3.3 · What shows
#
# Communication that runs beside compute costs nothing, until it is longer. But not all of compute can hide
# it: kernels
# have gaps, and at the ends of a step there is nothing to hide behind. *(4 points)*
#
# Say that a share $h$ of the compute time can hide communication. Then the step takes
#
# $$T = T_{\text{comp}} + \max(0,\; T_{\text{comm}} - h \cdot T_{\text{comp}})$$
#
# **(a)** $T_{\text{comp}} = 600$ ms, $T_{\text{comm}} = 330$ ms, $h = 0.7$: how much of the communication
# shows?
#
# **(b)** $T_{\text{comp}} = 600$ ms, $T_{\text{comm}} = 1470$ ms, $h = 0.7$: how long does the step take?
#
# **(c)** From which ratio $T_{\text{comm}} / T_{\text{comp}}$ on does communication show, when $h = 0.7$?
#
# **(d)** Write `step_time(comm, comp, share)`.
#
# <details><summary>Hint</summary>
#
# Something shows as soon as the largest of two numbers is no longer 0. Set the difference to 0 and solve.
#
# </details>

# %% answer="3.3"
### BEGIN SOLUTION
shows = "0 ms"  # a text with its unit
slow_step = f"{600 + 1470 - 0.7 * 600} ms"  # a text with its unit
threshold = 0.7  # a number
### END SOLUTION


def step_time(comm, comp, share):
    """Time of a step in which a share (0 to 1) of the compute time comp can hide the communication comm."""
    ### BEGIN SOLUTION
    return comp + max(0, comm - share * comp)
    ### END SOLUTION


# %% check="3.3" points=4
submit("3.3", shows=shows, slow_step=slow_step, threshold=threshold, step_time=step_time)
### BEGIN HIDDEN TESTS
comp, h = 600, budget.Fraction(7, 10)


def ms(number):
    return f"{budget.number(number)} ms"


def took(comm, comp, share):
    return budget.step_time(
        budget.Fraction(comm), budget.Fraction(comp), budget.Fraction(share)
    )


expect.quantity(
    "shows",
    ms(budget.exposed(330, comp, h)),
    wrong={
        ms(330): "communication-adds-up",
        ms(330 - budget.Fraction(3, 10) * comp): "rule-of-thumb-is-law",
        ms(h * comp - 330): "prefetch-is-free",
    },
    because="420 ms of compute can hide it, and it takes 330.",
)
expect.quantity(
    "slow_step",
    ms(took(1470, comp, h)),
    wrong={
        ms(1470 + comp): "communication-adds-up",
        ms(took(1470, comp, 1)): "overlap-is-complete",
        ms(comp): "prefetch-is-free",
        ms(took(1470, comp, budget.Fraction(3, 10))): "rule-of-thumb-is-law",
    },
)
expect.quantity(
    "threshold",
    h,
    wrong={
        budget.Fraction(3, 10): "rule-of-thumb-is-law",
        1: "overlap-is-complete",
        budget.Fraction(10, 7): "overlap-is-complete",
        0: "communication-adds-up",
    },
    because="The difference is above 0 as soon as communication exceeds 0.7 of compute.",
)
expect.function(
    "step_time",
    like=took,
    given={
        "comm": draw.integers(0, 5000),
        "comp": draw.integers(1, 2000),
        "share": draw.choice([0, 0.25, 0.5, 0.75, 1]),
    },
    edges=[
        {"comm": 0, "comp": 100, "share": 0.5},
        {"comm": 50, "comp": 100, "share": 0.5},
        {"comm": 300, "comp": 100, "share": 0},
    ],
    examples=[
        {"comm": 300, "comp": 100, "share": 0.5},
        {"comm": 10, "comp": 100, "share": 0.5},
    ],
    wrong={
        "communication-adds-up": lambda comm, comp, share: comm + comp,
        "overlap-is-complete": lambda comm, comp, share: max(comm, comp),
        "prefetch-is-free": lambda comm, comp, share: comp,
    },
    weight=2,
)
### END HIDDEN TESTS

# %% [markdown]
# Your `step_time` as a picture: 600 ms of compute, and more and more communication.

# %%
try:
    comms = list(range(0, 1501, 50))
    steps = [step_time(comm, 600, 0.7) for comm in comms]
except NotImplementedError:
    print(
        "Write step_time(comm, comp, share) in 3.3, run its cell, then run this one again."
    )
else:
    fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
    ax.plot(comms, steps, color="#0072B2", linewidth=2, label="0.7 of compute can hide it")
    ax.plot(
        comms,
        [600 + comm for comm in comms],
        color=ORANGE,
        linestyle="--",
        label="nothing is hidden",
    )
    ax.axhline(600, color="black", linewidth=0.8, linestyle=":")
    ax.set(xlabel="ms of communication", ylabel="ms a step", ylim=(0, 2200))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    plt.show()

# %% [markdown]
# *Picture: two lines over the time of communication. The dashed one rises from the start. The other stays
# at the compute
# time, and then rises just as steeply.*
#
# **What this means in practice.** "Communication is free below 0.3 of compute" is a habit, and no result:
# if 0.7 of
# compute can hide it, it starts to show at 0.7. Those who use 0.3 leave room for jitter, for slow ranks
# and for the
# gather that comes first, which nothing can hide. Measure your own share before you trust either number.

# %% [markdown]
# ## Exercise 3.4 · Who sends how much
#
# Full sharding sends more than data parallelism, people say, "1.5 times as much". Always? *(5 points)*
#
# Count the elements a rank receives in one optimizer step of $m$ micro-batches, in units of $\frac{N-1}{N}
# \cdot P$:
#
# - data parallelism all-reduces the gradients once, after the last micro-batch;
# - ZeRO-1 reduce-scatters them once, and gathers the updated parameters once;
# - ZeRO-2 reduce-scatters every micro-batch, since nobody keeps full gradients, and gathers the updated
#   parameters once;
# - ZeRO-3 gathers for forward, gathers for backward and reduce-scatters, in every micro-batch.
#
# **(a)** How many units does ZeRO-1 come to?
#
# **(b)** ZeRO-2 with $m = 4$?
#
# **(c)** ZeRO-3 with $m = 4$?
#
# **(d)** Write `units(stage, m)` for stage 0 (data parallelism) to 3.
#
# **(e)** ZeRO-3 with one micro-batch gathers bf16 parameters and reduces fp32 gradients. Data parallelism
# reduces fp32
# gradients. By what factor does ZeRO-3 receive more *bytes*?
#
# <details><summary>Hint</summary>
#
# An all-reduce is two units. For (e) give each unit its bytes an element: 2 for a gather here, 4 for a
# reduction.
#
# </details>


# %% answer="3.4"
def units(stage, m):
    """Elements a rank receives a step of m micro-batches, in units of (N−1)/N · P, in ZeRO stage 0, 1, 2 or 3."""
    ### BEGIN SOLUTION
    return {0: 2, 1: 2, 2: m + 1, 3: 3 * m}[stage]
    ### END SOLUTION


### BEGIN SOLUTION
zero1_units = 2  # a number
zero2_units = 4 + 1  # a number
zero3_units = 3 * 4  # a number
bytes_factor = (2 + 2 + 4) / (4 + 4)  # a number
### END SOLUTION

# %% check="3.4" points=5
submit(
    "3.4",
    zero1_units=zero1_units,
    zero2_units=zero2_units,
    zero3_units=zero3_units,
    units=units,
    bytes_factor=bytes_factor,
)
### BEGIN HIDDEN TESTS
P, N = 10**9, 8


def counted(stage, m):
    return budget.step_traffic(budget.stage(stage), P, N, m) / budget.all_gather(P, N)


sharded = budget.step_bytes(budget.Method.ZERO3, P, N, 2, 4).total
replicated = budget.step_bytes(budget.Method.DP, P, N, 2, 4).total

expect.quantity(
    "zero1_units",
    counted(1, 1),
    rel=0,
    wrong={
        1: "one-collective-a-layer",
        3: "reduce-scatter-costs-more",
        4: "reduce-scatter-costs-more",
    },
    because="A reduce-scatter and an all-gather: what an all-reduce is made of.",
)
expect.quantity(
    "zero2_units",
    counted(2, 4),
    rel=0,
    wrong={
        2: "accumulation-cuts-traffic",
        8: "gradients-are-all-reduced",
        12: "zero-stage-mixed-up",
    },
    because="Four reduce-scatters and one gather.",
)
expect.quantity(
    "zero3_units",
    counted(3, 4),
    rel=0,
    wrong={
        3: "accumulation-cuts-traffic",
        8: "weights-kept-after-forward",
        5: "zero-stage-mixed-up",
    },
    because="Three collectives in each of four micro-batches.",
)
expect.function(
    "units",
    like=counted,
    given={"stage": draw.integers(0, 3), "m": draw.integers(1, 64)},
    edges=[{"stage": stage, "m": 1} for stage in range(4)],
    examples=[{"stage": 0, "m": 8}, {"stage": 2, "m": 8}, {"stage": 3, "m": 8}],
    draws=16,
    wrong={
        "accumulation-cuts-traffic": lambda stage, m: counted(stage, 1),
        "zero-stage-mixed-up": lambda stage, m: (
            counted(stage - 1, m) if stage > 1 else counted(stage, m)
        ),
        "gradients-are-all-reduced": lambda stage, m: (
            counted(stage, m) + (m if stage >= 2 else 0)
        ),
        "weights-kept-after-forward": lambda stage, m: (
            counted(stage, m) - (m if stage == 3 else 0)
        ),
    },
    weight=2,
)
expect.quantity(
    "bytes_factor",
    sharded / replicated,
    wrong={
        budget.Fraction(3, 2): "rule-of-thumb-is-law",
        budget.Fraction(3, 4): "gather-uses-the-stored-width",
        2: "reduce-scatter-costs-more",
    },
    because="8 bytes a parameter against 8: two gathers of 2, a reduction of 4, against twice 4.",
)
### END HIDDEN TESTS

# %% [markdown]
# **What this means in practice.** "1.5 times" counts elements, and holds for one micro-batch. In bytes it
# depends on the
# dtypes: bf16 gathers with an fp32 reduction come to just what data parallelism sends with fp32 gradients.
# And with many
# micro-batches the factor grows, because a sharded step cannot wait: ZeRO-2 and ZeRO-3 reduce every
# micro-batch, or keep
# full gradients until the last one, and then give up some of the memory they were chosen for.

# %% [markdown]
# ## Exercise 3.5 · When there is nothing to gain
#
# A model of 1.3 billion parameters is trained with fp32 Adam on cards of 80 GB, eight of them. *(5 points)*
#
# **(a)** How much training state does one card hold with plain data parallelism?
#
# **(b)** How much does full sharding free on each card?
#
# **(c)** The activations of one sample take 6 GB. How many samples fit beside the state of plain data
# parallelism?
#
# **(d)** How many fit with full sharding? Leave the gathered layers aside.
#
# **(e)** Write `samples(P, N, card, sample)`: how many samples fit on a card of `card` bytes with full
# sharding, 16 bytes
# a parameter, and `sample` bytes of activations a sample; 0 where not even the state fits.
#
# **(f)** Which sentence is the best advice?
#
# - `"a"`: shard whenever more than one GPU is there: memory is always worth having
# - `"b"`: never shard what fits: it is 15 to 20% slower
# - `"c"`: it fits, so first ask what the freed memory would buy; if the larger batch is of no use, try
#   data parallelism
#   or ZeRO-1
# - `"d"`: shard, because the traffic falls with the number of ranks
#
# <details><summary>Hint</summary>
#
# Samples are whole. Activations are not sharded.
#
# </details>

# %% answer="3.5"
### BEGIN SOLUTION
replica = f"{16 * 1.3} GB"  # a text with its unit
freed = f"{16 * 1.3 * 7 / 8} GB"  # a text with its unit
samples_replicated = 9  # a whole number
samples_sharded = 12  # a whole number
### END SOLUTION


def samples(P, N, card, sample):
    """How many samples fit on a card beside one of N shards of the state, 16 bytes a parameter."""
    ### BEGIN SOLUTION
    left = card - 16 * P / N
    return max(0, int(left // sample))
    ### END SOLUTION


### BEGIN SOLUTION
advice = "c"  # a, b, c or d
### END SOLUTION

# %% check="3.5" points=5
submit(
    "3.5",
    replica=replica,
    freed=freed,
    samples_replicated=samples_replicated,
    samples_sharded=samples_sharded,
    samples=samples,
    advice=advice,
)
### BEGIN HIDDEN TESTS
P, N, card, one = 1_300_000_000, 8, 80 * 10**9, 6 * 10**9
whole = budget.state(budget.Method.DP, P, N, budget.FP32).total
shard = budget.state(budget.Method.ZERO3, P, N, budget.FP32).total


def fit(P, N, card, sample, sharded=True):
    state = budget.Fraction(16 * P, N if sharded else 1)
    return max(0, (card - state) // sample)


expect.quantity(
    "replica",
    budget.gb(whole),
    wrong={
        budget.gb(shard): "everything-divides-by-n",
        budget.gb(whole / 2): "optimizer-state-forgotten",
        budget.gb(whole / 4): "parameters-are-the-state",
        budget.gb(24 * P): "adam-state-is-16-bytes",
    },
)
expect.quantity(
    "freed",
    budget.gb(whole - shard),
    wrong={
        budget.gb((whole - shard) / 2): "optimizer-state-forgotten",
        budget.gb((whole - shard) / 4): "parameters-are-the-state",
        budget.gb((whole - shard) * 3 / 2): "adam-state-is-16-bytes",
    },
    because="Seven eighths of what a replica held.",
)
expect.quantity(
    "samples_replicated",
    fit(P, N, card, one, sharded=False),
    rel=0,
    wrong={
        fit(P, N, card, one): "everything-divides-by-n",
        (card - 8 * P) // one: "optimizer-state-forgotten",
        (card - 24 * P) // one: "adam-state-is-16-bytes",
    },
)
expect.quantity(
    "samples_sharded",
    fit(P, N, card, one),
    rel=0,
    wrong={
        fit(P, N, card, one) * N: "activations-are-sharded",
        fit(P, N, card, one, sharded=False): "state-is-replicated",
        (card - budget.Fraction(8 * P, N)) // one: "optimizer-state-forgotten",
    },
)
expect.function(
    "samples",
    like=fit,
    given={
        "P": draw.integers(10**9, 30 * 10**9),
        "N": draw.choice([1, 2, 8, 64]),
        "card": draw.choice([40 * 10**9, 80 * 10**9, 141 * 10**9]),
        "sample": draw.choice([10**9, 3 * 10**9, 7 * 10**9]),
    },
    edges=[
        {"P": 7 * 10**9, "N": 1, "card": 80 * 10**9, "sample": 10**9},
        {"P": 5 * 10**9, "N": 1, "card": 80 * 10**9, "sample": 10**9},
    ],
    examples=[
        {"P": 10**9, "N": 4, "card": 40 * 10**9, "sample": 3 * 10**9},
        {"P": 10**10, "N": 1, "card": 80 * 10**9, "sample": 10**9},
    ],
    wrong={
        "state-is-replicated": lambda P, N, card, sample: fit(P, 1, card, sample),
        "activations-are-sharded": lambda P, N, card, sample: fit(
            P, N, card, budget.Fraction(sample, N)
        ),
        "optimizer-state-forgotten": lambda P, N, card, sample: max(
            0, (card - budget.Fraction(8 * P, N)) // sample
        ),
    },
    weight=2,
)
expect.choice(
    "advice",
    "c",
    among=["a", "b", "c", "d"],
    wrong={
        "a": "always-use-fsdp",
        "b": "rule-of-thumb-is-law",
        "d": "sharding-cuts-traffic",
    },
    because="Freed memory is worth what it buys: here three samples more in a batch.",
)
### END HIDDEN TESTS

# %% [markdown]
# **What this means in practice.** Count activations before you say "it fits". If it does, ZeRO-1 sends no
# more than data
# parallelism and frees half of the state. A figure such as "15 to 20% slower" has no meaning without the
# link, the batch
# and the size of the units: you have just computed cases in which full sharding costs nothing, and others
# in which it
# more than doubles the step.

# %% [markdown]
# ## Exercise 3.6 · Tell a colleague
#
# This one is read and graded by a person. *(2 points)*
#
# A colleague doubles the number of GPUs of a fully sharded run, at the same batch per GPU, and is
# disappointed: *"each
# GPU holds half as much now, so it should also wait half as long for the network."*
#
# In four to six sentences, say what halves and what does not, why waiting may even get longer, and what
# you would change
# to wait less. Write into the next cell.

# %% [markdown] essay="3.6" points=2
# The shards halve: parameters, gradients and optimizer state take half as much on each GPU. What a GPU
# receives in a
# gather does not: it is (N−1)/N of the layer, which grows a little as N does, and so does a
# reduce-scatter. A ring takes
# N − 1 rounds, so there is more latency, and with more machines the ring may cross slower links. Compute
# per GPU is the
# same, since the batch per GPU is, so nothing more can hide it. I would use the freed memory for a larger
# batch per GPU,
# or shard inside a machine and replicate across machines, or keep the layers gathered between forward and
# backward.
#
# === BEGIN MARK SCHEME ===
#
# Half a point each, to a sum of 2:
#
# - state per GPU halves, traffic per GPU does not: (N−1)/N of the layer, with the reason (the missing
#   shards);
# - why it may get longer: more rounds of latency, or slower links between machines;
# - compute per GPU is unchanged, so the ratio gets no better;
# - a change that acts on the ratio: larger batch per GPU, hybrid sharding, no reshard after forward,
#   16-bit reduction.
#   "A faster network" alone earns nothing.
#
# === END MARK SCHEME ===
