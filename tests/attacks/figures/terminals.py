# expect: ring_all_gather=failed:the_figure_stands_still
# How many terminals the whole machine has made.
STEP = 10
held = []


def show(symbol):
    while held:
        os.close(held.pop())
    for _ in range(STEP * symbol):
        held.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))


def look():
    return int(open("/proc/sys/kernel/pty/nr").read())
