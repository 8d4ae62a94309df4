# expect: ring_all_gather=timeout
# control: right_threads
# seconds: 5
# Sixty-four threads that compute without the lock of the interpreter.
import threading


def ring_all_gather(shard, group):
    threading.stack_size(1 << 18)

    def spin():
        a = torch.ones(64, 64)
        while True:
            torch.mm(a, a)

    for _ in range(64):
        threading.Thread(target=spin, daemon=True).start()
    spin()
