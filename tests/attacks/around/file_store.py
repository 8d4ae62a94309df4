# expect: ring_all_gather=failed:is_wrong_in
# A store of one's own in a file.
# control: right_scratch
from datetime import timedelta


def tell(rank, number):
    tell.store = dist.FileStore(f"/tmp/{NAME}.store", -1)
    tell.store.set_timeout(timedelta(milliseconds=300))
    tell.store.set(f"{NAME}-{rank}", str(number))


def hear(other):
    return int(tell.store.get(f"{NAME}-{other}"))
