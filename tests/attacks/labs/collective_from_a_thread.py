# expect: ring_all_gather=failed
import threading


def ring_all_gather(shard, group):
    out = [torch.empty_like(shard) for _ in range(dist.get_world_size(group))]
    thread = threading.Thread(target=dist.all_gather, args=(out, shard, group))
    thread.start()
    thread.join()
    return torch.cat(out)
