# expect: ring_all_gather=passed
# System calls that have been ways out of boxes, or that see what a box should not show.
import ctypes
import os


def event():
    attributes = ctypes.create_string_buffer(128)
    attributes[0:8] = bytes([1, 0, 0, 0, 128, 0, 0, 0])
    os.close(system(298, attributes, 0, -1, -1, 0))


def by_handle():
    handle = ctypes.create_string_buffer(136)
    handle[0:4] = (128).to_bytes(4, "little")
    mount = ctypes.c_int()
    system(303, -100, ctypes.c_char_p(b"/usr"), handle, ctypes.byref(mount), 0)
    system(304, os.open("/usr", os.O_RDONLY), handle, os.O_RDONLY)


def of_itself():
    got = ctypes.create_string_buffer(8)
    part = (ctypes.c_uint64 * 2)(ctypes.addressof(got), 8)
    other = (ctypes.c_uint64 * 2)(ctypes.addressof(part), 8)
    system(310, os.getpid(), part, 1, other, 1, 0)


def worked(kind):
    zeros = ctypes.create_string_buffer(256)
    tries = [
        (
            "bpf map",
            lambda: system(321, 0, bytes([1, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0]) + bytes(104), 120),
        ),
        ("perf", event),
        ("open by handle", by_handle),
        ("io_uring", lambda: system(425, 8, zeros)),
        ("userfaultfd", lambda: system(323, 1)),
        ("kexec", lambda: system(246, 0, 0, None, 0)),
        ("a module", lambda: system(175, zeros, 256, ctypes.c_char_p(b""))),
        ("a module from a file", lambda: system(313, 0, ctypes.c_char_p(b""), 0)),
        ("the log", lambda: system(103, 3, zeros, 200)),
        ("accounting", lambda: system(163, None)),
        ("a key", lambda: system(248, ctypes.c_char_p(b"user"), ctypes.c_char_p(b"x"), zeros, 8, -3)),
        ("keys", lambda: system(250, 0, -3, 1)),
        ("a requested key", lambda: system(249, ctypes.c_char_p(b"user"), ctypes.c_char_p(b"x"), None, -3)),
        ("fanotify", lambda: system(300, 0x200, 0)),
        ("moves pages", lambda: system(256, 1, 8, zeros, zeros)),
        ("kcmp", lambda: system(312, 1, os.getpid(), 0, 0, 0)),
        ("secret memory", lambda: os.close(system(447, 0))),
        ("ptrace", lambda: system(101, 0, 0, None, None)),
        ("process_vm", of_itself),
    ]
    if kind == "lab":
        tries += [
            ("memfd", lambda: os.close(os.memfd_create("x"))),
            ("shared memory", lambda: system(29, 0, 4096, 0o1600)),
            ("a queue", lambda: system(68, 0, 0o1600)),
            ("semaphores", lambda: system(64, 0, 1, 0o1600)),
            ("another's descriptors", lambda: system(438, system(434, os.getpid(), 0), 1, 0)),
        ]
    return opened(tries)
