# expect: ring_all_gather=failed:the_figure_stands_still
# How many files the whole machine has open.
STEP = 150
held = []


def show(symbol):
    while held:
        os.close(held.pop())
    for _ in range(STEP * symbol):
        held.append(os.open("/dev/null", os.O_RDONLY))


def look():
    return int(open("/proc/sys/fs/file-nr").read().split()[0])
