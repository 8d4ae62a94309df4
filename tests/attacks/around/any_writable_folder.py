# expect: ring_all_gather=failed:is_wrong_in
# A file in whatever folder can be written, wherever it is.
def folders():
    for top in ("/", "/run", "/var", "/home", "/lab", "/shardlab", "/mnt", "/opt", "/dev", "/sys", "/etc"):
        for here, names, _ in os.walk(top):
            if here.count("/") > 3 or here.startswith(("/proc", "/tmp", "/dev/shm")):
                names[:] = []
            elif os.access(here, os.W_OK):
                yield here


def tell(rank, number):
    for folder in folders():
        try:
            with open(f"{folder}/{NAME}-{rank}", "w") as file:
                file.write(str(number))
        except OSError:
            pass


def hear(other):
    for folder in folders():
        try:
            return int(open(f"{folder}/{NAME}-{other}").read())
        except OSError:
            pass
