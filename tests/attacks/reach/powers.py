# expect: ring_all_gather=passed
# Another user, more rights, higher limits, a larger share of the machine.
import os
import resource


def status(field):
    for line in open("/proc/self/status"):
        if line.startswith(f"{field}:"):
            return line.split()[1]


def capabilities():
    held = {field: status(field) for field in ("CapPrm", "CapEff", "CapAmb", "CapInh")}
    return {field: value for field, value in held.items() if int(value, 16)} or False


def raised(which):
    soft, hard = resource.getrlimit(which)
    if hard == resource.RLIM_INFINITY:
        return False  # nothing to raise: what bounds this is something else
    resource.setrlimit(which, (soft, resource.RLIM_INFINITY))


def lifted(which):
    soft, hard = resource.getrlimit(which)
    return soft == resource.RLIM_INFINITY


def worked(kind):
    limits = (
        "CPU",
        "DATA",
        "STACK",
        "CORE",
        "NOFILE",
        "MEMLOCK",
        "FSIZE",
        "NPROC",
        "AS",
        "NICE",
        "RTPRIO",
        "MSGQUEUE",
    )
    tries = [
        (
            "user 0 outside",
            lambda: int(open("/proc/self/uid_map").read().split()[1]) == 0 and os.getuid() == 0,
        ),
        ("setuid", lambda: os.getuid() != 0 and os.setuid(0)),
        ("setgid", lambda: os.getgid() != 0 and os.setgid(0)),
        ("setresuid", lambda: os.getuid() != 0 and os.setresuid(0, 0, 0)),
        ("setgroups", lambda: os.setgroups([0])),
        ("capabilities", capabilities),
        ("new privileges", lambda: status("NoNewPrivs") != "1"),
        ("a filter of system calls is missing", lambda: status("Seccomp") != "2"),
        ("dumps its memory", lambda: lifted(resource.RLIMIT_CORE)),
        ("files without bound", lambda: lifted(resource.RLIMIT_FSIZE)),
        ("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - 1)),
        ("first in the queue", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))),
        ("round robin", lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))),
        ("host's name", lambda: system(170, __import__("ctypes").c_char_p(b"x"), 1)),
        ("domain's name", lambda: system(171, __import__("ctypes").c_char_p(b"x"), 1)),
        ("the clock", lambda: __import__("time").clock_settime(0, 1_000_000_000)),
        ("reboot", lambda: system(169, 0xFEE1DEAD, 672274793, 0x89ABCDEF, None)),
        ("ports", lambda: system(172, 3)),
        ("securebits", lambda: system(157, 28, 0)),
        ("vhangup", lambda: system(153)),
    ]
    tries += [(f"limit {n}", lambda n=n: raised(getattr(resource, f"RLIMIT_{n}"))) for n in limits]
    return opened(tries)
