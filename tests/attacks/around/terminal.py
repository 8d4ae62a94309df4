# expect: ring_all_gather=failed:is_wrong_in
# A terminal: whoever makes one gets a number, and whoever knows the number can open it.
import pty
import termios
import tty


def tell(rank, number):
    tell.ends = [os.openpty() for _ in range(1)]
    for ours, theirs in tell.ends:
        tty.setraw(theirs)
        os.write(ours, f"{rank}:{number}\n".encode())


def hear(other):
    for name in sorted(os.listdir("/dev/pts")):
        if name.isdigit():
            handle = os.open(f"/dev/pts/{name}", os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
            try:
                rank, _, number = os.read(handle, 100).decode().partition(":")
            except OSError:
                continue
            if rank == str(other):
                return int(number)
            os.write(tell.ends[0][0], f"{rank}:{number}".encode())
