# expect: ring_all_gather=failed:is_wrong_in
# Unix sockets in files, held open by another name: the file is a link in /proc.
import socket


def tell(rank, number):
    global listening
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    path = f"/tmp/{NAME}-{rank}.socket"
    if os.path.exists(path):
        os.unlink(path)
    listening.bind(path)
    listening.listen()
    listening.settimeout(2)
    tell.number = number


def hear(other):
    with socket.socket(socket.AF_UNIX) as out:
        out.connect(f"/tmp/{NAME}-{other}.socket")
        out.sendall(str(tell.number).encode())
    taken, _ = listening.accept()
    return int(taken.recv(64))
