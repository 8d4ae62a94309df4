# expect: ring_all_gather=passed
# Out of the machine, to another program on it, or to the judge by any family of sockets.
import socket


def connected(family, kind, address):
    with socket.socket(family, kind) as made:
        made.settimeout(1)
        made.connect(address)
        if kind == socket.SOCK_DGRAM:
            made.send(b"x")


def made(family, kind, protocol=0):
    socket.socket(family, kind, protocol).close()


def connect_unix(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.connect(path)


def addressed():
    """Whether any device but loopback has an address, or is there at all."""
    names = [name for _, name in socket.if_nameindex()]
    return [name for name in names if name != "lo"] or False


def worked(kind):
    inet, inet6, stream, datagram, raw = (
        socket.AF_INET,
        socket.AF_INET6,
        socket.SOCK_STREAM,
        socket.SOCK_DGRAM,
        socket.SOCK_RAW,
    )
    tries = [
        ("v4", lambda: connected(inet, stream, ("1.1.1.1", 53))),
        ("v4 datagram", lambda: connected(inet, datagram, ("1.1.1.1", 53))),
        ("v6", lambda: connected(inet6, stream, ("2606:4700:4700::1111", 53))),
        ("a private net", lambda: connected(inet, datagram, ("10.0.0.1", 53))),
        ("the cloud's metadata", lambda: connected(inet, stream, ("169.254.169.254", 80))),
        ("a local port", lambda: connected(inet, stream, ("127.0.0.1", 22))),
        ("names", lambda: socket.getaddrinfo("pypi.org", 443)),
        ("devices", addressed),
        ("raw", lambda: made(inet, raw, socket.IPPROTO_ICMP)),
        ("packets", lambda: made(socket.AF_PACKET, raw, 0x300)),
        ("vsock", lambda: connected(40, stream, (2, 1024))),
        ("systemd", lambda: connect_unix("/run/systemd/private")),
        ("dbus", lambda: connect_unix("/run/dbus/system_bus_socket")),
        ("docker", lambda: connect_unix("/var/run/docker.sock")),
        ("crypto", lambda: made(38, socket.SOCK_SEQPACKET)),
    ]
    if kind == "lab":  # a rank has one socket, and makes none
        families = ("AF_UNIX", "AF_INET", "AF_INET6", "AF_NETLINK")
        tries += [(f"a socket of {f}", lambda f=f: made(getattr(socket, f), datagram)) for f in families]
    return opened(tries)
