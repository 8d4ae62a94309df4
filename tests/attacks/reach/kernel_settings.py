# expect: ring_all_gather=passed
# The kernel's settings, its log, its memory and its ways to be told things. Nothing is written: that a file can be opened
# for writing is enough, and what a root's box lets through would be the machine's.
import os


def written(path):
    os.close(os.open(path, os.O_WRONLY))


def readable(path):
    with open(path, "rb") as file:
        return bool(file.read(16))


def settings():
    for here, _, names in os.walk("/proc/sys"):
        for name in names:
            path = os.path.join(here, name)
            try:
                handle = os.open(path, os.O_WRONLY)
                if name == "ns_last_pid":  # of its own namespace, and open to all: writing is what is refused
                    os.write(handle, b"500")
                os.close(handle)
            except OSError:
                continue
            yield path


def worked(kind):
    tries = [
        ("core_pattern", lambda: written("/proc/sys/kernel/core_pattern")),
        ("settings", lambda: list(settings()) or False),
        ("sysrq", lambda: written("/proc/sysrq-trigger")),
        ("drop_caches", lambda: written("/proc/sys/vm/drop_caches")),
        ("kcore", lambda: readable("/proc/kcore")),
        ("kmsg", lambda: readable("/proc/kmsg")),
        ("kallsyms", lambda: any(int(line.split()[0], 16) for line in list(open("/proc/kallsyms"))[:100])),
        ("irq", lambda: written("/proc/irq/default_smp_affinity")),
        ("acpi", lambda: readable("/proc/acpi/wakeup")),
        ("timers", lambda: readable("/proc/timer_list")),
        ("keys", lambda: readable("/proc/keys")),
        ("cgroups", lambda: written("/sys/fs/cgroup/cgroup.procs")),
        ("cgroups v1", lambda: written("/sys/fs/cgroup/memory/cgroup.procs")),
        ("uevent", lambda: written("/sys/kernel/uevent_helper")),
        ("hibernation", lambda: written("/sys/power/state")),
        ("debugfs", lambda: bool(os.listdir("/sys/kernel/debug"))),
        ("oom", lambda: os.write(os.open("/proc/self/oom_score_adj", os.O_WRONLY), b"-1000")),
    ]
    return opened(tries)
