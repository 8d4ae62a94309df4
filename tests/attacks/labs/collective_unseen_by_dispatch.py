# expect: ring_all_gather=failed:collective-called
# With every dispatch mode taken off, and through the functional form.
from torch.utils._python_dispatch import _disable_current_modes


def ring_all_gather(shard, group):
    with _disable_current_modes(), torch._C._DisableTorchDispatch():
        out = shard.new_empty(shard.numel() * dist.get_world_size(group))
        dist.all_gather_into_tensor(out, shard, group)
    return out
