# expect: ring_all_gather=failed:is_wrong_in
# How large a new pipe is: smaller, where one's user has many. Bit by bit, one rank at a time, with empty messages to
# keep step.
import fcntl


def tell(rank, number):
    tell.number = number


def step():
    zeros_round(torch.zeros(0), dist.group.WORLD)


def fill():
    held = []
    for _ in range(80):
        try:
            ends = os.pipe()
            held.extend(ends)
            fcntl.fcntl(ends[1], 1031, 1 << 20)
        except OSError:
            pass
    return held


def hear(other):
    heard = 0
    ends = os.pipe()
    fcntl.fcntl(ends[1], 1032)  # where it cannot be asked, both give up before the first step
    for turn in (0, 1):
        for bit in range(28):
            held = fill() if turn != other and tell.number >> bit & 1 else []
            step()
            if turn == other:
                ends = os.pipe()
                heard |= (fcntl.fcntl(ends[1], 1032) < 1 << 16) << bit
                held.extend(ends)
            step()
            for end in held:
                os.close(end)
            step()
    return heard
