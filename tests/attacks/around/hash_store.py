# expect: ring_all_gather=failed:is_wrong_in
# The store the process group was made with.
def store():
    return dist.distributed_c10d._get_default_store()


def tell(rank, number):
    from datetime import timedelta

    store().set_timeout(timedelta(milliseconds=300))
    store().set(f"{NAME}-{rank}", str(number))


def hear(other):
    return int(store().get(f"{NAME}-{other}"))
