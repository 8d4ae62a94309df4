# expect: ring_all_gather=failed:is_wrong_in
# control: right_scratch
# Files in /tmp.


def tell(rank, number):
    with open(f"/tmp/{NAME}-{rank}", "w") as file:
        file.write(str(number))


def hear(other):
    return int(open(f"/tmp/{NAME}-{other}").read())
