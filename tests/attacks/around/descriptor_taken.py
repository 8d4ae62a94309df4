# expect: ring_all_gather=failed:is_wrong_in
# A pipe's end taken out of the other process by pidfd_getfd.
def tell(rank, number):
    take, give = os.pipe()
    tell.pipe = os.dup2(take, 700), give
    os.write(give, f"{rank}:{number}".encode())


def hear(other):
    libc.syscall.restype = ctypes.c_long
    for pid in siblings():
        try:
            handle = checked(libc.syscall(434, pid, 0))
            taken = checked(libc.syscall(438, handle, 700, 0))
            rank, _, number = os.read(taken, 100).decode().partition(":")
        except OSError as error:
            print(error)
            continue
        if rank == str(other):
            return int(number)
