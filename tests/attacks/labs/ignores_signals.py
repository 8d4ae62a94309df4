# expect: ring_all_gather=timeout
# seconds: 3
# Every signal that can be is blocked or answered with nothing, in every thread.
import signal
import threading


def ring_all_gather(shard, group):
    for number in signal.valid_signals():
        try:
            signal.signal(number, lambda *args: None)
        except (OSError, ValueError):
            pass
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    threading.Thread(target=threading.Event().wait).start()
    while True:
        pass
