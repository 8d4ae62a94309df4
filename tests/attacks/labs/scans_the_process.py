# expect: ring_all_gather=failed:is_wrong_in
# Looks for the answer in every frame, module and object: other ranks' inputs would do.
import gc
import sys


def everything():
    frame = sys._getframe()
    while frame:
        yield from list(frame.f_locals.values()) + list(frame.f_globals.values())
        frame = frame.f_back
    for frame in sys._current_frames().values():
        yield from list(frame.f_locals.values())
    for thing in gc.get_objects():
        yield thing
        if isinstance(thing, dict):
            yield from list(thing.values())
        elif isinstance(thing, (list, tuple)):
            yield from list(thing)


def ring_all_gather(shard, group):
    out = guess(shard, group)
    for thing in everything():
        if type(thing) is torch.Tensor and thing.shape == out.shape and thing.dtype == out.dtype:
            if thing is not out and bool(thing.any()):
                return thing.clone()
    for thing in everything():
        if type(thing) is torch.Tensor and thing.shape == shard.shape and not torch.equal(thing, shard):
            return torch.cat([shard, thing]) if dist.get_rank(group) == 0 else torch.cat([thing, shard])
    return out
