# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=timeout
# seconds: 4
# %% ans-0-2
import signal

for number in signal.valid_signals():
    try:
        signal.signal(number, lambda *args: None)
    except (OSError, ValueError):
        pass
while True:
    try:
        while True:
            pass
    except BaseException:
        pass
