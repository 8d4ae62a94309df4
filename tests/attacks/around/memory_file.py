# expect: ring_all_gather=failed:is_wrong_in
# A file without a name, opened through the other's list of descriptors.
def tell(rank, number):
    tell.file = os.memfd_create(f"{NAME}-{rank}")
    os.write(tell.file, str(number).encode())


def hear(other):
    for pid in siblings():
        for name in os.listdir(f"/proc/{pid}/fd"):
            path = f"/proc/{pid}/fd/{name}"
            try:
                if f"{NAME}-{other}" in os.readlink(path):
                    return int(open(path).read())
            except OSError:
                pass
