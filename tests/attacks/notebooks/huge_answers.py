# expect: 0.1/size=failed 0.1/area=failed 0.2/pick=failed
# Answers that are too large, too deep or never end.
# %% ans-0-1
size = "1" * (200 << 20)


# %% ans-0-1b
def area(width, height):
    return [0] * (1 << 24)


# %% ans-0-2
pick = []
for _ in range(100_000):
    pick = [pick]
