# expect: ring_all_gather=failed:is_wrong_in
# A store of one's own at a port.
from datetime import timedelta


def tell(rank, number):
    tell.store = dist.TCPStore("127.0.0.1", 29517, 2, rank == 0, timedelta(seconds=1), wait_for_workers=False)
    tell.store.set(f"{NAME}-{rank}", str(number))


def hear(other):
    return int(tell.store.get(f"{NAME}-{other}"))
