# expect: same_start=passed averaged=passed overlap=passed no_sync=passed
"""torch's own DistributedDataParallel."""

from torch import nn


def plan_buckets(parameters, bucket_bytes):
    return [[parameter] for parameter in reversed(parameters)]


class DataParallel(nn.Module):
    def __init__(self, module, group, bucket_bytes=25 << 20):
        super().__init__()
        megabytes = bucket_bytes / 2**20
        self.ddp = nn.parallel.DistributedDataParallel(module, process_group=group, bucket_cap_mb=megabytes)

    def forward(self, *args, **kwargs):
        return self.ddp(*args, **kwargs)

    def no_sync(self):
        return self.ddp.no_sync()

    def finish(self):
        pass  # DDP waits at the end of backward
