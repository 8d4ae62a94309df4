# expect: 0.1/size=passed 0.1/area=failed:RecursionError 0.2/pick=passed
# %% ans-0-1b
def area(width, height):
    return area(width, height)
