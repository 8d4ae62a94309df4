# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=passed
# control: right_processes
# A process that leaves its parent, its session and its terminal: allowed, but gone when the verdict stands.
# %% before ans-0-1
import os
import signal
import time

if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    os.closerange(0, 1024)
    while True:
        time.sleep(1000)
