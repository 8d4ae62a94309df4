# expect: ring_all_gather=passed
# Every device: those that are there beside the harmless ones, those that are not but could be made.
import os
import stat

HARMLESS = {"null", "zero", "full", "random", "urandom", "tty", "ptmx"}


def devices():
    for here, names, files in os.walk("/dev"):
        names[:] = [name for name in names if name not in ("shm", "pts")]
        for name in files:
            path = os.path.join(here, name)
            mode = os.lstat(path).st_mode
            if (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)) and name not in HARMLESS:
                yield path


def open_for(path, how):
    os.close(os.open(path, how | os.O_NONBLOCK))


def make(kind, major, minor):
    path = f"/tmp/device-{major}-{minor}"
    os.mknod(path, kind | 0o666, os.makedev(major, minor))
    os.unlink(path)


def worked(kind):
    names = [
        "mem",
        "kmem",
        "port",
        "kmsg",
        "kvm",
        "fuse",
        "vda",
        "sda",
        "nvme0n1",
        "loop-control",
        "loop0",
        "net/tun",
    ]
    names += [
        "nvidia0",
        "nvidiactl",
        "nvidia-uvm",
        "dri/card0",
        "dri/renderD128",
        "vhost-net",
        "vsock",
        "userfaultfd",
    ]
    names += [
        "uinput",
        "cuse",
        "mapper/control",
        "hpet",
        "input/event0",
        "console",
        "ttyS0",
        "rtc0",
        "autofs",
    ]
    tries = [("devices", lambda: list(devices()) or False)]
    for name in names:
        for how in (os.O_RDONLY, os.O_WRONLY):
            tries.append((f"{name} {how}", lambda name=name, how=how: open_for(f"/dev/{name}", how)))
    for major, minor in ((1, 1), (1, 11), (254, 0), (8, 0), (10, 200), (195, 0), (10, 232)):
        for kind_ in (stat.S_IFCHR, stat.S_IFBLK):
            tries.append((f"mknod {major}:{minor}", lambda k=kind_, a=major, b=minor: make(k, a, b)))
    tries.append(("a file in /dev", lambda: open("/dev/x", "w").close()))
    return opened(tries)
