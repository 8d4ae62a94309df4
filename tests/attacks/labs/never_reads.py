# expect: ring_all_gather=timeout
# seconds: 3
# Sends and asks for much, and never takes an answer off its socket.
import sys


def ring_all_gather(shard, group):
    rank, size = dist.get_rank(group), dist.get_world_size(group)
    if rank == 0:
        for name, module in list(sys.modules.items()):
            if hasattr(module, "receive_into") and hasattr(module, "MAX_HEADER"):
                import threading

                module.receive_into = lambda *args: threading.Event().wait()
    big = torch.zeros(1 << 20)
    for _ in range(8):
        works = [dist.irecv(torch.empty(1 << 20), 1 - rank % 2, group), dist.isend(big, 1 - rank % 2, group)]
        works[0].is_completed()
    for work in works:
        work.wait()
    while True:
        pass
