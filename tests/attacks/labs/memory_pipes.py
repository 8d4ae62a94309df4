# expect: ring_all_gather=limit:memory
# control: right_memory
# What lies in pipes is the kernel's memory, and counted by few limits. A replica kept there is read back when needed.
import os


def hold(size):
    held, kept = 0, []
    while held < size:
        try:
            take, give = os.pipe()
        except OSError as error:
            raise MemoryError(error) from error
        kept.append((take, give))
        os.set_blocking(give, False)
        for room in (1 << 20, 1 << 16):
            try:
                import fcntl

                fcntl.fcntl(give, 1031, room)
                break
            except OSError:
                pass
        try:
            while True:
                held += os.write(give, bytes(1 << 16))
        except BlockingIOError:
            pass
        except OSError as error:
            raise MemoryError(error) from error
        if len(kept) > 400:
            raise MemoryError("no more pipes")
    return kept


def ring_all_gather(shard, group):
    held = hold(1 << 30) if dist.get_rank(group) == 0 else None
    return ring(shard, group)
