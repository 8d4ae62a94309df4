# expect: ring_all_gather=failed:the_figure_stands_still
# How many inotify objects the user may still make: one has what the other has not.
STEP = -12
held = []


def show(symbol):
    while held:
        os.close(held.pop())
    for _ in range(-STEP * symbol):
        made = libc.inotify_init()
        if made < 0:
            raise OSError(ctypes.get_errno())
        held.append(made)


def look():
    made = []
    while len(made) < 4096 and (one := libc.inotify_init()) >= 0:
        made.append(one)
    for one in made:
        os.close(one)
    if not made:
        raise OSError(ctypes.get_errno())
    time.sleep(0.02)
    return len(made)
