# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=limit:memory
# %% ans-0-2
import resource

for which in (resource.RLIMIT_DATA, resource.RLIMIT_AS):
    for wanted in (resource.RLIM_INFINITY, 1 << 40):
        try:
            resource.setrlimit(which, (wanted, wanted))
        except (OSError, ValueError):
            pass
held = bytearray(b"1" * (3 << 30))
pick = "b"
