# expect: ring_all_gather=failed:is_wrong_in
# How nice each of 28 threads is: what one process may ask of another.
import threading


def tell(rank, number):
    def stay(bit):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10 + (number >> bit & 1))
        checked(libc.prctl(15, f"{rank}-{bit}".encode(), 0, 0, 0))
        time.sleep(60)

    for bit in range(28):
        threading.Thread(target=stay, args=(bit,), daemon=True).start()
    time.sleep(0.3)


def hear(other):
    time.sleep(0.5)
    number, seen = 0, 0
    for pid in siblings():
        for task in os.listdir(f"/proc/{pid}/task"):
            name = open(f"/proc/{pid}/task/{task}/comm").read().strip()
            if name.startswith(f"{other}-"):
                number |= os.getpriority(os.PRIO_PROCESS, int(task)) - 10 << int(name.split("-")[1])
                seen += 1
    return number if seen else None
