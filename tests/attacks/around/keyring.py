# expect: ring_all_gather=failed:is_wrong_in
# A key in the keyring of the user, of the session, of whatever both ranks have.
def call(*args):
    libc.syscall.restype = ctypes.c_long
    return checked(libc.syscall(*args))


RINGS = (-4, -5, -3)  # user, user's session, session


def tell(rank, number):
    text = str(number).encode()
    told = 0
    for ring_ in RINGS:
        try:
            key = call(248, b"user", f"{NAME}-{rank}".encode(), text, len(text), ring_)
            call(250, 5, key, 0x3F3F3F3F)  # everybody may do everything
            told += 1
        except OSError as error:
            print(error)
    assert told


def hear(other):
    for ring_ in RINGS:
        try:
            key = call(250, 10, ring_, b"user", f"{NAME}-{other}".encode(), 0)
            text = ctypes.create_string_buffer(32)
            length = call(250, 11, key, text, 32)
            call(250, 9, key, ring_)
            return int(text.raw[:length])
        except OSError as error:
            print(error)
