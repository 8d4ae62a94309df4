# expect: ring_all_gather=limit
# control: right_memory
# The stacks of threads, all of them written to.
import ctypes
import threading


def hold(size):
    threading.stack_size(64 << 20)
    sort = ctypes.CDLL(None).qsort

    def deep(depth=0):
        # C frames between Python's: each takes a stretch of the stack itself
        if depth < 90:
            block = ctypes.create_string_buffer(1)
            compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(
                lambda a, b: deep(depth + 1) or 0
            )
            sort(block, 2, 0, compare)
        else:
            ready.release()
            threading.Event().wait()

    ready = threading.Semaphore(0)
    threads = [threading.Thread(target=deep, daemon=True) for _ in range(size >> 26)]
    for thread in threads:
        thread.start()
    return threads


def ring_all_gather(shard, group):
    held = hold(4 << 30) if dist.get_rank(group) == 0 else None
    return ring(shard, group)
