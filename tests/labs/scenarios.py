"""What ranks do in the tests of the switch: a function is a scenario, run on every rank in a process of its own."""

import os
import stat
import time

import torch
import torch.distributed as dist
from torch import nn


def model():
    torch.manual_seed(7)
    layers = [nn.Linear(12, 12, dtype=torch.float64) for _ in range(4)]
    return nn.Sequential(*(part for layer in layers for part in (layer, nn.Tanh())))


def batch(rank, step):
    generator = torch.Generator().manual_seed(100 * step + rank)
    return torch.randn(5, 12, dtype=torch.float64, generator=generator)


def train(net, rank, steps=3):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    for step in range(steps):
        optimizer.zero_grad()
        net(batch(rank, step)).pow(2).mean().backward()
        optimizer.step()


def ddp(rank, groups, inputs):
    net = model()
    train(nn.parallel.DistributedDataParallel(net, bucket_cap_mb=0.001), rank)
    return {name: p.detach() for name, p in net.named_parameters()}


def fsdp(rank, groups, inputs):
    from torch.distributed.fsdp import fully_shard

    net = model()
    for layer in net:
        if isinstance(layer, nn.Linear):
            fully_shard(layer)
    fully_shard(net)
    train(net, rank)
    return {name: p.detach().full_tensor() for name, p in net.named_parameters()}


def every_collective(rank, groups, inputs):
    x, n = inputs["x"], dist.get_world_size()
    out = {}
    for name in inputs["reductions"]:
        out[f"all_reduce {name}"] = y = x.clone()
        dist.all_reduce(y, getattr(dist.ReduceOp, name))
    out["broadcast"] = y = x.clone()
    dist.broadcast(y, src=n - 1)
    out["reduce"] = y = x.clone()
    dist.reduce(y, dst=1 % n)
    pieces = [torch.empty_like(x) for _ in range(n)]
    dist.all_gather(pieces, x)
    out["all_gather"] = torch.stack(pieces)
    out["all_gather_single"] = y = x.new_empty(n * x.numel())
    getattr(dist, "all_gather_single", dist.all_gather_into_tensor)(y, x)
    out["reduce_scatter"] = y = torch.empty_like(x)
    dist.reduce_scatter(y, [x] * n)
    wide = torch.cat([x] * n)
    out["reduce_scatter_single"] = y = torch.empty_like(x)
    getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)(y, wide)
    got = [torch.empty_like(x) for _ in range(n)] if rank == 0 else None
    dist.gather(x, got, dst=0)
    out["gather"] = torch.stack(got) if rank == 0 else x.new_empty(0)
    out["scatter"] = y = torch.empty_like(x)
    dist.scatter(y, [x] * n if rank == n - 1 else None, src=n - 1)
    # rank r sends r + 1 rows of its own to everybody
    rows = x[:1].repeat(n * (rank + 1))
    out["all_to_all_single"] = y = x.new_empty(sum(range(1, n + 1)))
    dist.all_to_all_single(y, rows, [r + 1 for r in range(n)], [rank + 1] * n)
    pieces = [torch.empty_like(x) for _ in range(n)]
    dist.all_to_all(pieces, [x] * n)
    out["all_to_all"] = torch.stack(pieces)
    out["transposed"] = y = torch.empty(x.numel(), 2, dtype=x.dtype).t()
    y.copy_(torch.stack([x, x]))
    dist.broadcast(y, src=0)
    out["transposed"] = y.contiguous()
    dist.barrier()
    return out


def coalesced(rank, groups, inputs):
    x, n = torch.arange(4.0) + rank, dist.get_world_size()
    a, b = x.clone(), x.clone() * 2
    with dist.distributed_c10d._coalescing_manager():
        dist.all_reduce(a)
        dist.all_reduce(b)
    gather = getattr(dist, "all_gather_single", dist.all_gather_into_tensor)
    scatter = getattr(dist, "reduce_scatter_single", dist.reduce_scatter_tensor)
    one, two = torch.empty(4 * n), torch.empty(2 * n)
    with dist.distributed_c10d._coalescing_manager(async_ops=True) as manager:
        gather(one, x)
        gather(two, x[:2])
    manager.wait()
    three, four = torch.empty(4), torch.empty(2)
    with dist.distributed_c10d._coalescing_manager():
        scatter(three, one)
        scatter(four, two)
    return {"a": a, "b": b, "one": one, "two": two, "three": three, "four": four}


def functional(rank, groups, inputs):
    import torch.distributed._functional_collectives as fun

    x = torch.arange(4.0) + rank
    group = dist.group.WORLD
    total = fun.all_reduce(x, "sum", group)
    whole = fun.all_gather_tensor(x, 0, group)
    part = fun.reduce_scatter_tensor(whole, "avg", 0, group)
    return {"total": total + 0, "whole": whole + 0, "part": part + 0}


def asynchronous(rank, groups, inputs):
    n = dist.get_world_size()
    xs = [torch.full((3,), float(rank + k)) for k in range(5)]
    works = [dist.all_reduce(x, async_op=True) for x in xs]
    future = works[0].get_future()
    for work in reversed(works):
        work.wait()
    done = all(work.is_completed() for work in works)
    value = future.wait()[0].clone()
    ring = torch.empty(3)
    sent = dist.isend(xs[0], (rank + 1) % n)
    dist.irecv(ring, (rank - 1) % n).wait()
    sent.wait()
    return {"xs": torch.stack(xs), "done": done, "value": value, "ring": ring}


def messages(rank, groups, inputs):
    """Tags, order, anybody, and both directions at once."""
    n = dist.get_world_size()
    if rank == 0:
        got = []
        for _ in range(n - 1):
            x = torch.empty(2)
            source = dist.recv(x)
            got.append((source, x))
        got.sort(key=lambda pair: pair[0])
        first, second = torch.empty(1), torch.empty(1)
        ops = [dist.P2POp(dist.irecv, second, 1, tag=8), dist.P2POp(dist.irecv, first, 1, tag=7)]
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        return {
            "from": torch.stack([x for _, x in got]),
            "sources": [s for s, _ in got],
            "tags": torch.cat([first, second]),
        }
    dist.send(torch.full((2,), float(rank)), 0)
    if rank == 1:
        for work in [dist.isend(torch.tensor([7.0]), 0, tag=7), dist.isend(torch.tensor([8.0]), 0, tag=8)]:
            work.wait()
    return {}


def subgroups(rank, groups, inputs):
    mine = groups["group"]
    odd = dist.new_group([1, 3])
    out = {}
    if mine is not None:
        x = torch.tensor([float(rank)])
        dist.all_reduce(x, group=mine)
        out["sum"] = x
        y = torch.tensor([float(rank)])
        dist.broadcast(y, src=dist.get_global_rank(mine, 2), group=mine)
        out["from"] = y
        out["place"] = dist.get_rank(mine)
    if rank in (1, 3):
        z = torch.tensor([float(rank)])
        dist.all_reduce(z, dist.ReduceOp.MAX, group=odd)
        out["odd"] = z
    return out


def mesh(rank, groups, inputs):
    from torch.distributed.device_mesh import init_device_mesh

    grid = init_device_mesh("cpu", (2, 3), mesh_dim_names=("replicate", "shard"))
    x, y = torch.tensor([float(rank)]), torch.tensor([float(rank)])
    dist.all_reduce(x, group=grid.get_group("replicate"))
    dist.all_reduce(y, group=grid.get_group("shard"))
    return {"replicate": x, "shard": y}


def objects(rank, groups, inputs):
    got = [None] * dist.get_world_size()
    dist.all_gather_object(got, {"rank": rank, "text": "x" * rank})
    box = [{"from": rank}]
    dist.broadcast_object_list(box, src=1)
    return {"got": got, "box": box[0]}


def speed(rank, groups, inputs):
    x = torch.full((4 << 20,), float(rank))
    dist.barrier()
    start = time.monotonic()
    dist.all_reduce(x)
    return {"seconds": time.monotonic() - start, "x": x[:2].clone()}


def reads_too_early(rank, groups, inputs):
    x = torch.ones(4)
    work = dist.all_reduce(x, async_op=True)
    until = time.monotonic() + inputs["patience"]
    while x[0] == 1 and time.monotonic() < until:
        time.sleep(0.01)
    early = x.clone()
    work.wait()
    return {"early": early, "late": x}


def from_a_thread(rank, groups, inputs):
    import threading

    from torch.utils._python_dispatch import _disable_current_modes

    x = torch.ones(2)

    def hidden():
        with _disable_current_modes():
            dist.all_reduce(x)

    thread = threading.Thread(target=hidden)
    thread.start()
    thread.join()
    return {"x": x}


# --- ranks that go wrong ---


def send_first(rank, groups, inputs):
    n = dist.get_world_size()
    x = torch.ones(4)
    dist.send(x, (rank + 1) % n)
    dist.recv(x, (rank - 1) % n)


def different_sizes(rank, groups, inputs):
    dist.all_reduce(torch.ones(8 if rank == 2 else 4))


def different_order(rank, groups, inputs):
    a, b = torch.ones(4), torch.ones(4, dtype=torch.int32)
    dist.barrier()
    for x in (b, a) if rank == 1 else (a, b):
        dist.all_reduce(x)


def different_kinds(rank, groups, inputs):
    x = torch.ones(4)
    if rank == 0:
        dist.broadcast(x, src=0)
    else:
        dist.all_reduce(x)


def different_roots(rank, groups, inputs):
    dist.broadcast(torch.ones(4), src=rank % 2)


def message_too_long(rank, groups, inputs):
    if rank == 0:
        dist.send(torch.ones(4), 1)
    elif rank == 1:
        dist.recv(torch.ones(3), 0)


def one_call_less(rank, groups, inputs):
    dist.barrier()
    if rank != 1:
        dist.barrier()


def raises(rank, groups, inputs):
    if rank == 1:
        raise ValueError("one of mine")
    dist.all_reduce(torch.ones(1))


def exits(rank, groups, inputs):
    if rank == 1:
        os._exit(3)
    dist.all_reduce(torch.ones(1))


def unwritten(rank, groups, inputs):
    raise NotImplementedError()


def sleeps(rank, groups, inputs):
    if rank == 1:
        while True:
            time.sleep(1)
    dist.all_reduce(torch.ones(1))


def prints(rank, groups, inputs):
    os.write(2, b"from C\n")
    print("hello from", rank)
    for _ in range(30000):
        print("x" * 100)


def eats(rank, groups, inputs):
    return {"x": torch.ones(200 << 20, dtype=torch.uint8)[:2].clone()}


def leaves_daemons(rank, groups, inputs):
    for _ in range(2):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                while True:
                    time.sleep(60)
            os._exit(0)
    dist.barrier()
    return {"x": torch.ones(1)}


def kills_the_runner(rank, groups, inputs):
    import signal

    dist.barrier()
    if rank == 0:
        os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


def hands_in_oddities(rank, groups, inputs):
    return {"none": None, "object": object(), "nan": torch.tensor([float("nan")]), "list": [1, 2.5, "x"]}


def looks_around(rank, groups, inputs):
    import importlib
    import importlib.util
    import pathlib
    import socket

    def can_connect():
        try:
            socket.create_connection(("1.1.1.1", 53), timeout=1).close()
        except OSError:
            return False
        return True

    def can_write(path):
        try:
            pathlib.Path(path).write_text("x")
        except OSError:
            return False
        return True

    def kind_of(fd):
        try:
            return "socket" if stat.S_ISSOCK(os.fstat(fd).st_mode) else "other"
        except OSError:
            return ""

    return {
        "judge": importlib.util.find_spec("autograder.judge") is not None,
        "engine": importlib.util.find_spec("autograder.engine") is not None,
        "network": can_connect(),
        "files": sorted(path.name for path in pathlib.Path("/lab").glob("*")),
        "writes": [p for p in ("/lab/lab.py", "/lab/x", "/x", "/usr/x", "/etc/x") if can_write(p)],
        "environment": sorted(os.environ),
        "descriptors": sorted(kind_of(fd) for fd in range(3, 64) if kind_of(fd)),
    }


# --- under the probe ---


def deep():
    torch.manual_seed(3)
    return nn.Sequential(*(nn.Linear(64, 64, dtype=torch.float64) for _ in range(6)))


def probed(net, rank, forward, reduce=None):
    from autograder.learner.lab import probe, training

    watcher = probe.current()
    watcher.watch(net)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    watcher.watch(optimizer=optimizer)
    data = []
    for step in range(3):
        generator = torch.Generator().manual_seed(100 * step + rank)
        data.append([(torch.randn(2, 64, dtype=torch.float64, generator=generator), torch.zeros(2, 64))])
    loop = training.Loop(
        forward=forward,
        zero=lambda: optimizer.zero_grad(set_to_none=True),
        update=optimizer.step,
        reduce=reduce,
    )
    loop.run(data, watcher)


def probed_replica(rank, groups, inputs):
    net = deep()
    probed(net, rank, nn.parallel.DistributedDataParallel(net, bucket_cap_mb=0.03))


def probed_shards(rank, groups, inputs):
    from torch.distributed.fsdp import fully_shard

    net = deep()
    for layer in net:
        fully_shard(layer)
    probed(net, rank, fully_shard(net))


def probed_late(rank, groups, inputs):
    net = deep()

    def reduce():
        for parameter in net.parameters():
            dist.all_reduce(parameter.grad)

    probed(net, rank, net, reduce)


def marks(rank):
    from autograder.learner.lab import probe

    return probe.current()._tell


def forges_marks(rank, groups, inputs):
    for step in (0, 1, 1, 2):
        marks(rank)("step", {"step": step})
        dist.all_reduce(torch.ones(1000))


def forges_nothing(rank, groups, inputs):
    for _ in range(4):
        dist.all_reduce(torch.ones(1000))


def too_many_marks(rank, groups, inputs):
    for _ in range(30_000):
        marks(rank)("step", {})
    dist.barrier()


def marks_of_no_numbers(rank, groups, inputs):
    marks(rank)("step", {"step": [[1] * 1000]})
    dist.barrier()


def a_mark_of_many_values(rank, groups, inputs):
    marks(rank)("step", {str(n): n for n in range(100)})
    dist.barrier()


def sums_its_input(rank, groups, inputs):
    return {"sum": inputs["x"].double().sum()}
