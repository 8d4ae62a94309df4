# expect: ring_all_gather=passed
# Files: what can be read that should not be there, what can be written that is not ours.
import os
import re
import sys

SECRET = re.compile(rb"canary-[0-9a-f]{16}")


def places(deep):
    """Every folder that is not the system's or Python's own, at most `deep` folders down, and what lies in it."""
    known = ("/proc", "/sys", "/usr", "/lib", "/etc", sys.prefix, sys.base_prefix)
    for here, names, files in os.walk("/"):
        if here.startswith(known) or here.count("/") >= deep:
            names[:] = []
        yield here, files[:200]


def writable():
    """Folders and files one could write, beside those that are ours to use."""
    ours = ("/tmp", "/dev", "/learner", "/kernel", "/proc", "/var/tmp")
    for here, files in places(4):
        if here.startswith(ours):
            continue
        path = os.path.join(here, "shardlab-around-probe")
        try:
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY))
            os.unlink(path)
            yield here
        except OSError:
            pass
        for name in files[:20]:
            try:
                os.close(os.open(os.path.join(here, name), os.O_WRONLY | os.O_NONBLOCK))
                yield os.path.join(here, name)
            except OSError:
                pass


def secrets():
    """Course files: the canary, keys, checks, other hand-ins, wherever they might be shown."""
    for here, files in places(6):
        for name in files if not here.startswith("/dev") else ():
            path = os.path.join(here, name)
            if name in ("checks.py", "lab.toml", "course.toml", "gradebook.db", "canary.txt", "solution.py"):
                yield path
                continue
            try:
                with open(path, "rb") as file:
                    if SECRET.search(file.read(1 << 16)):
                        yield path
            except OSError:
                pass


def readable(path):
    with open(path, "rb") as file:
        return bool(file.read(1))


def judge():
    import autograder

    rooms = os.listdir(os.path.dirname(autograder.__file__))
    return sorted(set(rooms) - {"__init__.py", "learner", "__pycache__"}) or False


def imported(name):
    __import__(name)


def worked(kind):
    tries = [
        ("writable", lambda: list(writable()) or False),
        ("secrets", lambda: list(secrets()) or False),
        ("rooms", judge),
        (
            "suid",
            lambda: os.access("/usr/bin/sudo", os.X_OK) and not os.statvfs("/usr").f_flag & os.ST_NOSUID,
        ),
    ]
    tries += [
        (path, lambda path=path: readable(path)) for path in ("/etc/shadow", "/etc/gshadow", "/root/.bashrc")
    ]
    tries += [
        (f"autograder.{n}", lambda n=n: imported(f"autograder.{n}"))
        for n in ("judge", "engine", "sandbox", "cli")
    ]
    return opened(tries)
