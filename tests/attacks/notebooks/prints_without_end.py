# expect: 0.1/size=passed 0.1/area=passed 0.2/pick=passed
# seconds: 6
# Lines without end: the cell may time out, what it printed is cut, and nothing else is touched.
# %% before ans-0-1
while True:
    print("x" * 100)
