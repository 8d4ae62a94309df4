# expect: ring_all_gather=failed:the_figure_stands_still
# How much shared memory the whole machine holds, in /proc/meminfo.
import mmap

STEP = 16 << 20
held = []


def show(symbol):
    while held:
        held.pop().close()
    for _ in range(symbol):
        held.append(mmap.mmap(-1, STEP))
        held[-1][::4096] = b"1" * (STEP // 4096)


def look():
    for line in open("/proc/meminfo"):
        if line.startswith("Shmem:"):
            return int(line.split()[1]) << 10
