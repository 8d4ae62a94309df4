# expect: ring_all_gather=passed
# What other processes are, were started with and hold open: the first one, and all that can be seen.
import os
import re

SECRET = re.compile(rb"canary-[0-9a-f]{16}|SHARDLAB_CANARY")


def found_in(path):
    with open(path, "rb") as file:
        data = file.read(1 << 20)
    return bool(SECRET.search(data)) or False


def listing(path):
    names = os.listdir(path)
    return [
        name
        for name in ("work", "root", "home", "submitted")
        if name in names and os.listdir(f"{path}/{name}")
    ] or False


def outside_root(pid):
    """Another root folder than ours."""
    there, here = os.stat(f"/proc/{pid}/root/."), os.stat("/")
    return (there.st_dev, there.st_ino) != (here.st_dev, here.st_ino)


def worked(kind):
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    tries = [("a crowd of processes", lambda: len(pids) > (8 if kind == "lab" else 20))]
    for pid in pids:
        for name in ("environ", "cmdline", "maps", "stack"):
            tries.append((f"{pid}/{name}", lambda pid=pid, name=name: found_in(f"/proc/{pid}/{name}")))
        tries.append((f"{pid}/root", lambda pid=pid: outside_root(pid)))
        tries.append((f"{pid}/cwd", lambda pid=pid: listing(f"/proc/{pid}/cwd")))
        if pid != os.getpid():
            tries.append((f"{pid}/mem", lambda pid=pid: os.close(os.open(f"/proc/{pid}/mem", os.O_RDWR))))
    return opened(tries)
