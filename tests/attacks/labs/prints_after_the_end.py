# expect: ring_all_gather=passed
# A thread that goes on when the answer is given.
import os
import threading


def ring_all_gather(shard, group):
    def forever():
        while True:
            os.write(1, b"still here\n")

    threading.Thread(target=forever, daemon=True).start()
    return ring(shard, group)
